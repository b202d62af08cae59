"""What a relative kind may change in self-attention.

Shapes: B batch, T queries, S keys, H heads, K d_k, V d_v. Queries are at positions offset, offset + 1, ..., keys at
0, 1, ..., S - 1.
"""

from __future__ import annotations

from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from ablatable.config.model import Model


class Relative(nn.Module):
    """Does nothing; each kind replaces what it needs.

    ``shared``: one instance serves all layers of a stack; otherwise each layer has its own.
    """

    shared: ClassVar[bool] = True

    @classmethod
    def of(cls, model: Model, causal: bool) -> Self:
        """As ``model`` asks for it, in a stack where queries see no later key (``causal``) or all keys."""
        return cls()

    def rotate(self, x_BTHK: Tensor, offset: int) -> Tensor:
        """Queries or keys (B, T, H, K) of positions offset, offset + 1, ... as they enter the score."""
        return x_BTHK

    def score_bias(self, q_BTHK: Tensor, keys: int, offset: int) -> Tensor | None:
        """What is added to the scores, broadcastable to (B, H, T, S); ``q`` is scaled as the score scales it."""
        return None

    def context_bias(self, weights_BHTS: Tensor, offset: int) -> Tensor | None:
        """What is added to the context, (B, T, H, V)."""
        return None


def key_offsets(queries: int, keys: int, offset: int, device: torch.device) -> Tensor:
    """How far key s lies after query t, (T, S) int64: s - (offset + t)."""
    positions_S = torch.arange(keys, device=device)
    positions_T = torch.arange(offset, offset + queries, device=device)
    return positions_S - positions_T[:, None]
