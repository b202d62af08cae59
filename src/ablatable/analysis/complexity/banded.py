"""Attention within a window that computes the window only: r n d operations, not n² d of which a mask hides most.

The models of this package mask the full score matrix: their sentences are short, and one dense product is quicker
than many small ones. This core stands in for theirs where Table 1's restricted self-attention is measured, and gives
the same context.

Shapes: B batch, T positions, H heads, K d_k, V d_v, N = B*H sequences, G blocks, Q queries a block, S keys a block.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.analysis.complexity.theory import block
from ablatable.nn.masks import Mask, reach
from ablatable.nn.relative import Relative


class BandedCore(nn.Module):
    """softmax(scale q.k) v over the ``window`` positions centred on each query.

    Queries come in blocks of Q; the keys a block may see are Q + window - 1 in a row, which overlap from block to
    block. Positions outside the sequence, and those of the block's keys that are outside a query's own window, get
    -inf. It stands where a :class:`SelfAttention` has its core, for whole sequences without padding.
    """

    def __init__(self, window: int, scale: float) -> None:
        super().__init__()
        self.reach = reach(window)
        self.block = block(window)
        self.scale = scale

    def forward(
        self, q_BTHK: Tensor, k_BTHK: Tensor, v_BTHV: Tensor, mask: Mask, relative: Relative | None, offset: int
    ) -> Tensor:
        """Return the context (B, T, H, V). The mask must hide nothing, for the window is this core's own.

        Raises:
            ValueError: a mask or a relative position is given, which this core does not compute.
        """
        if mask.keep is not None or relative is not None or offset:
            raise ValueError("the banded core knows its window and nothing else: no mask, relative position or offset")
        batch, length, heads, _ = q_BTHK.shape
        missing = -length % self.block
        blocks = (length + missing) // self.block
        q_GQK = _by_head(q_BTHK, 0, missing).reshape(batch * heads * blocks, self.block, -1)
        k_GSK, v_GSV = (self._windows(x_BTHX, missing) for x_BTHX in (k_BTHK, v_BTHV))
        scores_GQS = torch.baddbmm(q_GQK.new_empty(1, 1, 1), q_GQK, k_GSK.transpose(1, 2), beta=0.0, alpha=self.scale)
        scores_GQS.view(batch * heads, blocks, *scores_GQS.shape[1:]).masked_fill_(
            self._outside(length, missing, q_BTHK.device), float("-inf")
        )
        context_GQV = torch.bmm(torch.softmax(scores_GQS, dim=-1), v_GSV)
        return context_GQV.view(batch, heads, length + missing, -1)[:, :, :length].transpose(1, 2)

    def _windows(self, x_BTHX: Tensor, missing: int) -> Tensor:
        """What each block of queries may see, (G, S, X)."""
        x_NTX = _by_head(x_BTHX, self.reach, self.reach + missing)
        return x_NTX.unfold(1, self.block + 2 * self.reach, self.block).transpose(2, 3).flatten(0, 1)

    def _outside(self, length: int, missing: int, device: torch.device) -> Tensor:
        """Which key of a block is outside a query's window or the sequence: (1, G, Q, S) bool."""
        query_Q1 = torch.arange(self.block, device=device)[:, None]
        key_S = torch.arange(self.block + 2 * self.reach, device=device)
        band_QS = (key_S < query_Q1) | (key_S > query_Q1 + 2 * self.reach)
        first_G1 = torch.arange(0, length + missing, self.block, device=device)[:, None] - self.reach
        place_GS = first_G1 + key_S
        absent_GS = (place_GS < 0) | (place_GS >= length)
        # Queries of the filling see no key of the sequence; their rows are dropped, and NaN must not reach a gradient.
        filling_GQ = (first_G1 + self.reach + query_Q1[:, 0]) >= length
        return ((band_QS | absent_GS[:, None]) & ~filling_GQ[..., None])[None]


def _by_head(x_BTHX: Tensor, before: int, after: int) -> Tensor:
    """One sequence a head, (N, T, X), with so many zeros before and after."""
    return F.pad(x_BTHX.transpose(1, 2).flatten(0, 1), (0, 0, before, after))
