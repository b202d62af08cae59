"""How well a query and a key match: the score that softmax turns into a weight (section 3.2.1).

Shapes: B batch, T queries, S keys, H heads, K d_k.

Most scores are a product of something made of the query and something made of the key; those run on every kernel.
Trained factors are scalars (0-dim), so that they leave the precision of what they multiply alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.nn.initial import glorot_uniform

_CHUNK = 1 << 22
"""Numbers of the additive score's hidden layer held at a time, 16 MiB in float32; one query a head at least."""


class Score(nn.Module, ABC):
    """A compatibility of queries with keys."""

    @abstractmethod
    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor) -> Tensor:
        """Return the scores (B, H, T, S) of queries (B, T, H, K) and keys (B, S, H, K)."""

    @abstractmethod
    def scaled_queries(self, q_BTHK: Tensor) -> Tensor:
        """The queries (B, T, H, K) as they meet a key, every factor of the score applied."""


class ProductScore(Score):
    """``scale`` times the product of ``queries(q)`` and ``keys(k)``; here q and k themselves (section 3.2.1).

    The default scale, 1/sqrt(d_k), keeps the variance of a product of unit-variance vectors at 1.
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def queries(self, q_BTHK: Tensor) -> Tensor:
        """What of the queries enters the product, (B, T, H, K)."""
        return q_BTHK

    def keys(self, k_BSHK: Tensor) -> Tensor:
        """What of the keys enters the product, (B, S, H, K)."""
        return k_BSHK

    def scaled_queries(self, q_BTHK: Tensor) -> Tensor:
        """``scale * queries(q)``, (B, T, H, K)."""
        return self.scale * self.queries(q_BTHK)

    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor) -> Tensor:
        """Return the scores (B, H, T, S)."""
        return self.scaled_queries(q_BTHK).transpose(1, 2) @ self.keys(k_BSHK).permute(0, 2, 3, 1)


class LearnedScale(ProductScore):
    """The dot product times one trained factor, ``initial`` at first."""

    def __init__(self, initial: float) -> None:
        super().__init__(1.0)
        self.initial = initial
        self.factor = nn.Parameter(torch.empty(()))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """The value the factor starts at."""
        return torch.full(shape, self.initial)

    def queries(self, q_BTHK: Tensor) -> Tensor:
        """Queries times the factor, (B, T, H, K)."""
        return q_BTHK * self.factor


class Cosine(LearnedScale):
    """g cos(q, k) with one trained factor g (Henry et al. 2020).

    Here g is sqrt(d_k) at first, which gives random vectors the scores of the scaled dot product.

    The cosine is the product of the two vectors over their lengths; that of a zero vector is zero.
    """

    def queries(self, q_BTHK: Tensor) -> Tensor:
        """Queries of length g, (B, T, H, K)."""
        return _unit(q_BTHK) * self.factor

    def keys(self, k_BSHK: Tensor) -> Tensor:
        """Keys of length 1, (B, S, H, K)."""
        return _unit(k_BSHK)


class Additive(Score):
    """v . tanh(q + k), one trained v (K) a head, never scaled (Bahdanau et al. 2015, appendix A.1.2).

    The projections of queries and keys are the two halves of the hidden layer's matrix; its width is d_k. The layer
    would be (B, H, T, S, K); it is made for as many queries at a time as fit ``_CHUNK`` numbers, and once more in the
    backward pass, so that memory stays at that of the scores.
    """

    def __init__(self, heads: int, key_size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, key_size))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Glorot uniform, each head a map from d_k inputs to one output."""
        heads, key_size = shape
        return torch.cat([glorot_uniform(torch.Size((1, key_size)), generator) for _ in range(heads)])

    def scaled_queries(self, q_BTHK: Tensor) -> Tensor:
        """The queries as they are, (B, T, H, K)."""
        return q_BTHK

    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor) -> Tensor:
        """Return the scores (B, H, T, S)."""
        q_BHTK, k_BHSK = q_BTHK.transpose(1, 2).contiguous(), k_BSHK.transpose(1, 2).contiguous()
        return cast(Tensor, _AdditiveScores.apply(q_BHTK, k_BHSK, self.weight.to(q_BTHK.dtype)))


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q_BHTK: Tensor, k_BHSK: Tensor, weight_HK: Tensor) -> Tensor:
        ctx.save_for_backward(q_BHTK, k_BHSK, weight_HK)
        scores_BHTS = q_BHTK.new_empty(*q_BHTK.shape[:3], k_BHSK.shape[2])
        for rows in _chunks(q_BHTK, k_BHSK):
            hidden_BHtSK = _hidden(q_BHTK[:, :, rows], k_BHSK)
            scores_BHTS[:, :, rows] = hidden_BHtSK.mul_(weight_HK[:, None, None]).sum(-1)
        return scores_BHTS

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] (the decorator's result is positional-only)
        ctx: Any, *grad_outputs: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        q_BHTK, k_BHSK, weight_HK = ctx.saved_tensors
        (grad_BHTS,) = grad_outputs
        exact = torch.promote_types(q_BHTK.dtype, torch.float32)  # the chunks are added up in at least float32
        grad_q_BHTK = torch.empty_like(q_BHTK)
        grad_k_BHSK = torch.zeros_like(k_BHSK, dtype=exact)
        grad_weight_HK = torch.zeros_like(weight_HK, dtype=exact)
        for rows in _chunks(q_BHTK, k_BHSK):
            hidden_BHtSK = _hidden(q_BHTK[:, :, rows], k_BHSK)
            grad_BHtS1 = grad_BHTS[:, :, rows, :, None]
            grad_weight_HK += (hidden_BHtSK * grad_BHtS1).sum((0, 2, 3), dtype=exact)
            slope_BHtSK = hidden_BHtSK.square_().neg_().add_(1)  # tanh' = 1 - tanh^2
            grad_sum_BHtSK = slope_BHtSK.mul_(weight_HK[:, None, None]).mul_(grad_BHtS1)
            grad_q_BHTK[:, :, rows] = grad_sum_BHtSK.sum(3)
            grad_k_BHSK += grad_sum_BHtSK.sum(2, dtype=exact)
        return grad_q_BHTK, grad_k_BHSK.to(k_BHSK.dtype), grad_weight_HK.to(weight_HK.dtype)


def _chunks(q_BHTK: Tensor, k_BHSK: Tensor) -> list[slice]:
    batch, heads, queries, width = q_BHTK.shape
    rows = max(1, _CHUNK // max(1, batch * heads * k_BHSK.shape[2] * width))
    return [slice(first, first + rows) for first in range(0, queries, rows)]


def _hidden(q_BHtK: Tensor, k_BHSK: Tensor) -> Tensor:
    return (q_BHtK[:, :, :, None] + k_BHSK[:, :, None]).tanh_()


def _unit(x: Tensor) -> Tensor:
    # Lengths are float32 under autocast; the result has the precision of what came in, as the kernels want it.
    return F.normalize(x, dim=-1, eps=1e-6).to(x.dtype)


SCALES: dict[str, Callable[[Model], ProductScore]] = {
    "1/sqrt(d_k)": lambda model: ProductScore(1 / math.sqrt(model.key_size)),
    "none": lambda model: ProductScore(1.0),
    "1/d_k": lambda model: ProductScore(1 / model.key_size),
    "1/sqrt(d_model)": lambda model: ProductScore(1 / math.sqrt(model.d_model)),
    "learned": lambda model: LearnedScale(1 / math.sqrt(model.key_size)),
}
"""The dot product by ``model.score_scale``."""

KINDS: dict[str, Callable[[Model], Score]] = {
    "dot": lambda model: SCALES[model.score_scale](model),
    "additive": lambda model: Additive(model.heads, model.key_size),
    "cosine": lambda model: Cosine(math.sqrt(model.key_size)),
}
"""By ``model.score``; one object a sub-layer."""
