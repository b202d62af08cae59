"""Relative positions: what self-attention does with the offset of a query from a key (section 3.5 and after).

Shapes: B batch, T queries, S keys, H heads, K d_k, V d_v. Queries are at positions offset, offset + 1, ..., keys at
0, 1, ..., S - 1. Source and target share no axis, so cross-attention has none of this.
"""

from __future__ import annotations

from torch import Tensor, nn


class Relative(nn.Module):
    """Does nothing; each kind replaces what it needs."""

    def rotate(self, x_BTHK: Tensor, offset: int) -> Tensor:
        """Queries or keys (B, T, H, K) of positions offset, offset + 1, ... as they enter the score."""
        return x_BTHK

    def score_bias(self, q_BTHK: Tensor, keys: int, offset: int) -> Tensor | None:
        """What is added to the scores, broadcastable to (B, H, T, S); ``q`` is scaled as the score scales it."""
        return None

    def context_bias(self, weights_BHTS: Tensor, offset: int) -> Tensor | None:
        """What is added to the context, (B, T, H, V)."""
        return None
