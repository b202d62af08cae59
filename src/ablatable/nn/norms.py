"""Normalisation of the residual stream.

Each class has ``forward(x, keep)``: ``x`` (..., D), and ``keep`` (...) bool, False at padding; None: no padding. A new
kind is a class here, a line in ``KINDS``, its parameters in :mod:`ablatable.nn.count` and its name in the axis.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar, Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.model import Model

_NEWEST = 0.1
"""Weight of the newest batch in the running statistics (``momentum`` in PyTorch)."""


class Norm(nn.Module, ABC):
    """A normalisation, its epsilon, and (``affine``) a trained scale and shift per channel, from 1 and 0."""

    shifts: ClassVar[bool] = True
    """Whether the kind has a trained shift beside its scale."""

    def __init__(self, width: int, epsilon: float, affine: bool = True) -> None:
        super().__init__()
        self.width = width
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.empty(width)) if affine else None
        self.bias = nn.Parameter(torch.empty(width)) if affine and self.shifts else None

    @classmethod
    def of(cls, model: Model) -> Self:
        """As ``model`` asks for it."""
        return cls(model.d_model, model.norm_epsilon, model.norm_affine)

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Weight 1, bias 0."""
        return torch.ones(shape) if name == "weight" else torch.zeros(shape)

    @abstractmethod
    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Normalise (..., D); ``keep`` (...) says which positions are no padding."""

    def _scaled_and_shifted(self, x: Tensor) -> Tensor:
        if self.weight is not None:
            x = x * self.weight
        return x if self.bias is None else x + self.bias


class LayerNorm(Norm):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis, with the biased variance.

    Source: Ba et al. 2016, as section 3.1 cites it.
    """

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Normalise each position alone."""
        return F.layer_norm(x, (self.width,), self.weight, self.bias, self.epsilon)


class RMSNorm(Norm):
    """x / sqrt(mean(x^2) + epsilon) * weight over the last axis (Zhang & Sennrich 2019)."""

    shifts = False

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Normalise each position alone."""
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return self._scaled_and_shifted(x * torch.rsqrt(mean_square + self.epsilon))


class ScaleNorm(Norm):
    """g x / max(|x|, epsilon), one trained length g (Nguyen & Salazar 2019).

    g starts at sqrt(d_model), as if every channel had variance 1, and stays there without ``affine``.
    """

    shifts = False

    def __init__(self, width: int, epsilon: float, affine: bool = True) -> None:
        super().__init__(width, epsilon, affine=False)
        self.weight = nn.Parameter(torch.empty(1)) if affine else None

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Length sqrt(d_model)."""
        return torch.full(shape, math.sqrt(self.width))

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Give each position the length g."""
        wanted = math.sqrt(self.width) if self.weight is None else self.weight
        length = cast(Tensor, torch.linalg.vector_norm(x, dim=-1, keepdim=True))
        return x * (wanted / length.clamp(min=self.epsilon))


class BatchNorm(Norm):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, each channel over the real tokens of the batch.

    Source: Ioffe & Szegedy 2015. Padding is left out, so its amount changes nothing, and comes out as zeros. Training
    uses the batch's own mean and biased variance, to which every position of the batch contributes, later ones too.
    Evaluation uses running ones, so that there a translation depends on its sentence alone: at every batch they move by
    a tenth towards the batch's mean and unbiased variance, from 0 and 1. They are part of the model's state: saved,
    resumed, averaged. One token alone has no variance and is normalised as in evaluation.

    A batch split over passes or devices would have several statistics, so ``Experiment`` refuses that; the
    ``train.accumulate`` batches of an update each have their own.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int, epsilon: float, affine: bool = True) -> None:
        super().__init__(width, epsilon, affine)
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Normalise each channel, by the real positions of this batch in training."""
        x_ND = x.flatten(0, -2)
        if keep is None or not self.training:
            return self._normal(x_ND).view_as(x)
        real = _real(keep)
        normal = self._normal(x_ND.index_select(0, real))
        return normal.new_zeros(x_ND.shape).index_copy(0, real, normal).view_as(x)

    def _normal(self, x_ND: Tensor) -> Tensor:
        by_batch = self.training and x_ND.shape[0] > 1
        return F.batch_norm(
            x_ND, self.running_mean, self.running_var, self.weight, self.bias, by_batch, _NEWEST, self.epsilon
        )


@lru_cache(maxsize=2)
def _real(keep: Tensor) -> Tensor:
    """The indices of real positions among all, found once for the norms that share a mask: of source and target.

    Their number is known to the device alone, so that each finding waits for it. A mask is never changed in place.
    """
    return keep.flatten().nonzero().squeeze(1)


class MinMaxNorm(Norm):
    """(x - min) / (max - min + epsilon) * weight + bias over the channels of each position."""

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Normalise each position alone."""
        low, high = x.amin(dim=-1, keepdim=True), x.amax(dim=-1, keepdim=True)
        return self._scaled_and_shifted((x - low) / (high - low + self.epsilon))


class NoNorm(Norm):
    """Leaves the residual stream as it is."""

    def __init__(self, width: int, epsilon: float, affine: bool = True) -> None:
        super().__init__(width, epsilon, affine=False)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Return ``x``."""
        return x


KINDS: dict[str, type[Norm]] = {
    "layer": LayerNorm,
    "rms": RMSNorm,
    "scale": ScaleNorm,
    "batch": BatchNorm,
    "minmax": MinMaxNorm,
    "none": NoNorm,
}
"""Norms by ``model.norm``."""
