"""Label-smoothed cross-entropy (section 5.4) that never holds the whole (tokens, vocabulary) matrix.

The smoothed target is ``(1 - a) y + a / K`` over all K classes (Szegedy et al. 2016), written out as
``(1 - a) nll + a (logsumexp - mean logit)``. The unsmoothed NLL is carried beside it: perplexity is only ever
computed from that.

The output projection is part of the loss: logits exist for a few hundred tokens at a time, and their gradient is
folded into the gradients of the hidden states and of the matrix while they are in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

_CHUNK_ELEMENTS = {"cpu": 1 << 19, "cuda": 1 << 26}
"""Logits held at once: what fits the last-level cache of a core, or a small share of a GPU's memory."""


@dataclass(frozen=True)
class LossSums:
    """Sums over tokens; divide once, after adding up micro-batches, ranks and epochs.

    ``smoothed`` is differentiable; ``nll`` (nats), ``correct`` and ``tokens`` are not.
    """

    smoothed: Tensor
    nll: Tensor
    correct: Tensor
    tokens: int


def token_losses(hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> LossSums:
    """Loss sums of hidden states against targets.

    Args:
        hidden: ``(tokens, d_model)``, padding already left out.
        weight: ``(vocabulary, d_model)`` output projection.
        targets: ``(tokens,)`` int64.
        smoothing: a; 0 is plain cross-entropy.
    """
    smoothed, nll, correct = cast(
        tuple[Tensor, Tensor, Tensor], _ChunkedCrossEntropy.apply(hidden, weight, targets, smoothing)
    )
    return LossSums(smoothed, nll, correct, int(targets.shape[0]))


def _compute_type(hidden: Tensor) -> torch.dtype:
    device = hidden.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Computes the gradient during the forward pass, chunk by chunk, and only scales it in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        compute = _compute_type(hidden)
        wants_grad = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        with torch.autocast(hidden.device.type, enabled=False):
            matrix = weight.to(compute)
            states = hidden.to(compute)
            rows = max(16, _CHUNK_ELEMENTS.get(hidden.device.type, 1 << 26) // weight.shape[0])
            sums = torch.zeros(3, dtype=torch.float32 if compute != torch.float64 else compute, device=hidden.device)
            grad_hidden = torch.empty_like(states) if wants_grad else None
            grad_weight = torch.zeros_like(weight) if wants_grad else None
            for start in range(0, states.shape[0], rows):
                part = slice(start, start + rows)
                probabilities = _chunk(states[part], matrix, targets[part], smoothing, sums)
                if grad_hidden is not None and grad_weight is not None:
                    _to_gradient(probabilities, targets[part], smoothing)
                    gradient = probabilities.to(compute)
                    torch.mm(gradient, matrix, out=grad_hidden[part])
                    if compute == weight.dtype:
                        grad_weight.addmm_(gradient.t(), states[part])
                    else:
                        grad_weight += gradient.t() @ states[part]
        ctx.save_for_backward(grad_hidden, grad_weight)
        smoothed, nll, correct = sums.unbind()
        ctx.mark_non_differentiable(nll, correct)
        return smoothed.clone(), nll.clone(), correct.clone()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        scale = grad_outputs[0]
        return grad_hidden * scale, grad_weight * scale, None, None


def _chunk(states: Tensor, matrix: Tensor, targets: Tensor, smoothing: float, sums: Tensor) -> Tensor:
    """Add this chunk's sums and return its class probabilities ``(rows, vocabulary)``."""
    logits = (states @ matrix.t()).to(sums.dtype)
    right = logits.gather(1, targets[:, None]).squeeze(1)
    best, best_class = logits.max(dim=1)
    spread = logits.mean(dim=1) if smoothing else None
    logits.sub_(best[:, None]).exp_()
    total = logits.sum(dim=1)
    normaliser = best + total.log()
    nll = normaliser - right
    smoothed = nll if spread is None else (1 - smoothing) * nll + smoothing * (normaliser - spread)
    sums += torch.stack([smoothed.sum(), nll.sum(), (best_class == targets).sum().to(sums.dtype)])
    return logits.div_(total[:, None])


def _to_gradient(probabilities: Tensor, targets: Tensor, smoothing: float) -> None:
    """Turn probabilities into the gradient by the logits, ``p - (1 - a) y - a / K``, in place."""
    if smoothing:
        probabilities.sub_(smoothing / probabilities.shape[1])
    ones = probabilities.new_full((targets.shape[0], 1), -(1 - smoothing))
    probabilities.scatter_add_(1, targets[:, None], ones)
