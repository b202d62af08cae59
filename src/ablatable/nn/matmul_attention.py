"""Scaled dot-product attention as plain matrix products, for the short sequences of a CPU batch.

Shapes: B batch, T queries, S keys, H heads, K d_k, V d_v, N = B*H.

The gradient is written out because autograd's own copies heads apart and together several times more often:
an attention sub-layer on 64 x 16 tokens of width 128, forward and backward, takes three quarters of the time.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from ablatable.nn.masks import Mask


def attend(q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, mask: Mask, scale: float) -> Tensor:
    """Return softmax(scale * Q K^T) V (B, T, H, V), exactly zero for a query that may see no key."""
    return cast(Tensor, _Attend.apply(q_BTHK, k_BSHK, v_BSHV, mask, scale))


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, mask: Mask, scale: float) -> Tensor:
        q_NTK, k_NSK, v_NSV = _by_head(q_BTHK), _by_head(k_BSHK), _by_head(v_BSHV)
        weights_NTS = _weights(q_NTK, k_NSK, mask, q_BTHK.shape[0], scale)
        ctx.save_for_backward(q_NTK, k_NSK, v_NSV, weights_NTS)
        ctx.batch, ctx.scale = q_BTHK.shape[0], scale
        return _by_position(torch.bmm(weights_NTS, v_NSV), ctx.batch)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] (the decorator's result is positional-only)
        ctx: Any, *grad_outputs: Tensor
    ) -> tuple[Tensor | None, ...]:
        q_NTK, k_NSK, v_NSV, weights_NTS = ctx.saved_tensors
        grad_NTV = _by_head(grad_outputs[0])
        grad_v_NSV = torch.bmm(weights_NTS.transpose(1, 2), grad_NTV)
        # Masked weights and the rows of queries without a key are zero here, and so are their gradients.
        grad_scores_NTS = torch.ops.aten._softmax_backward_data(
            torch.bmm(grad_NTV, v_NSV.transpose(1, 2)), weights_NTS, -1, weights_NTS.dtype
        )
        grad_q_NTK = _scaled_product(grad_scores_NTS, k_NSK, ctx.scale)
        grad_k_NSK = _scaled_product(grad_scores_NTS.transpose(1, 2), q_NTK, ctx.scale)
        grads_by_head = (grad_q_NTK, grad_k_NSK, grad_v_NSV)
        return *(_by_position(grad, ctx.batch) for grad in grads_by_head), None, None


def _weights(q_NTK: Tensor, k_NSK: Tensor, mask: Mask, batch: int, scale: float) -> Tensor:
    scores_NTS = _scaled_product(q_NTK, k_NSK.transpose(1, 2), scale)
    if mask.bias is not None:
        _batched(scores_NTS, batch).add_(mask.bias)
    # The out= form keeps the scores' precision under autocast; the next product would round to it anyway.
    weights_NTS = torch.softmax(scores_NTS, dim=-1, out=torch.empty_like(scores_NTS))
    if mask.empty is not None:
        _batched(weights_NTS, batch).masked_fill_(mask.empty, 0.0)
    return weights_NTS


def _scaled_product(left: Tensor, right: Tensor, scale: float) -> Tensor:
    return torch.baddbmm(left.new_empty(1, 1, 1), left, right, beta=0.0, alpha=scale)


def _batched(x_NTK: Tensor, batch: int) -> Tensor:
    return x_NTK.view(batch, -1, *x_NTK.shape[1:])


def _by_head(x_BTHK: Tensor) -> Tensor:
    return x_BTHK.transpose(1, 2).flatten(0, 1)


def _by_position(x_NTK: Tensor, batch: int) -> Tensor:
    return _batched(x_NTK, batch).transpose(1, 2)
