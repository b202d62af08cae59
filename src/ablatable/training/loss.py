"""Label-smoothed cross-entropy (section 5.4) that never holds the whole (tokens, vocabulary) matrix.

The smoothed target is ``(1 - r) y + r m`` with some distribution m over all K classes, written out as
``(1 - r) nll + r (logsumexp - sum m logit)``. The unsmoothed NLL is carried beside it: perplexity is only ever
computed from that.

The output projection is part of the loss: logits exist for a few hundred tokens at a time, and their gradient is
folded into the gradients of the hidden states and of the matrix while they are in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, cast

import torch
from torch import Tensor, nn

from ablatable.config.training import Training

_CHUNK_ELEMENTS = {"cpu": 1 << 19, "cuda": 1 << 26}
"""Logits held at once: what fits the last-level cache of a core, or a small share of a GPU's memory."""


class Smoothing(nn.Module):
    """Even mass: the target ``(1 - a) y + a / K`` over all K classes (Szegedy et al. 2016; section 5.4)."""

    def __init__(self, mass: float) -> None:
        super().__init__()
        self.mass = mass

    @classmethod
    def fitted(cls, mass: float, label_counts: Callable[[], Tensor]) -> Self:
        """For a training text whose labels are counted by class, ``(K,)``, where the kind asks for them."""
        return cls(mass)

    def rate(self, classes: int) -> float:
        """r, what the right class loses before it gets its share of m."""
        return self.mass

    def mean_logit(self, logits: Tensor) -> Tensor:
        """Sum of m times the logits ``(rows, K)``, by row."""
        return logits.mean(dim=1)

    def subtract(self, probabilities: Tensor) -> None:
        """Take r m off every row of ``(rows, K)``, in place."""
        classes = probabilities.shape[1]
        probabilities.sub_(self.rate(classes) / classes)


class OthersSmoothing(Smoothing):
    """``1 - a`` for the right class and ``a / (K - 1)`` for each other: even mass with ``r = a K / (K - 1)``.

    Source: the first public code (Vaswani et al. 2018).
    """

    def rate(self, classes: int) -> float:
        """The even mass that leaves ``a / (K - 1)`` on each other class."""
        return self.mass * classes / (classes - 1)


class UnigramSmoothing(Smoothing):
    """``(1 - a) y + a p``, p the add-one frequencies of the training labels (Pereyra et al. 2017, section 3.2).

    Args:
        mass: a.
        counts: ``(K,)``, how often each class is a label.
    """

    prior: Tensor

    def __init__(self, mass: float, counts: Tensor) -> None:
        super().__init__(mass)
        seen = counts.double() + 1
        self.register_buffer("prior", seen / seen.sum(), persistent=False)

    @classmethod
    def fitted(cls, mass: float, label_counts: Callable[[], Tensor]) -> Self:
        """Count the labels."""
        return cls(mass, label_counts())

    def mean_logit(self, logits: Tensor) -> Tensor:
        """Sum of p times the logits."""
        return logits @ self.prior.to(logits.dtype)

    def subtract(self, probabilities: Tensor) -> None:
        """Take a p off every row."""
        probabilities.sub_(self.mass * self.prior.to(probabilities.dtype))


KINDS: dict[str, type[Smoothing]] = {
    "uniform": Smoothing,
    "others": OthersSmoothing,
    "unigram": UnigramSmoothing,
}
"""By ``train.smoothing_mass``."""


def smoothing_of(train: Training, label_counts: Callable[[], Tensor]) -> Smoothing | None:
    """The smoothing that training asks for, or None for plain cross-entropy."""
    if not train.label_smoothing:
        return None
    return KINDS[train.smoothing_mass].fitted(train.label_smoothing, label_counts)


@dataclass(frozen=True)
class LossSums:
    """Sums over tokens; divide once, after adding up micro-batches, ranks and epochs.

    ``smoothed`` is differentiable; ``nll`` (nats), ``correct`` and ``tokens`` are not.
    """

    smoothed: Tensor
    nll: Tensor
    correct: Tensor
    tokens: int


def token_losses(hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: Smoothing | None) -> LossSums:
    """Loss sums of hidden states against targets.

    Args:
        hidden: ``(tokens, d_model)``, padding already left out.
        weight: ``(vocabulary, d_model)`` output projection.
        targets: ``(tokens,)`` int64.
        smoothing: None is plain cross-entropy.
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
        ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: Smoothing | None
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


def _chunk(states: Tensor, matrix: Tensor, targets: Tensor, smoothing: Smoothing | None, sums: Tensor) -> Tensor:
    """Add this chunk's sums and return its class probabilities ``(rows, vocabulary)``."""
    logits = (states @ matrix.t()).to(sums.dtype)
    right = logits.gather(1, targets[:, None]).squeeze(1)
    best, best_class = logits.max(dim=1)
    spread = smoothing.mean_logit(logits) if smoothing is not None else None
    logits.sub_(best[:, None]).exp_()
    total = logits.sum(dim=1)
    normaliser = best + total.log()
    nll = normaliser - right
    rate = smoothing.rate(logits.shape[1]) if smoothing is not None else 0.0
    smoothed = nll if spread is None else (1 - rate) * nll + rate * (normaliser - spread)
    sums += torch.stack([smoothed.sum(), nll.sum(), (best_class == targets).sum().to(sums.dtype)])
    return logits.div_(total[:, None])


def _to_gradient(probabilities: Tensor, targets: Tensor, smoothing: Smoothing | None) -> None:
    """Turn probabilities into the gradient by the logits, ``p - (1 - r) y - r m``, in place."""
    rate = 0.0
    if smoothing is not None:
        smoothing.subtract(probabilities)
        rate = smoothing.rate(probabilities.shape[1])
    ones = probabilities.new_full((targets.shape[0], 1), -(1 - rate))
    probabilities.scatter_add_(1, targets[:, None], ones)
