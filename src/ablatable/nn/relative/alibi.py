"""Attention with linear biases: scores fall with the distance, at a pace of each head's own."""

from __future__ import annotations

from typing import Self, cast

import torch
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.nn.relative.base import Relative, key_offsets


def slope_exponents(heads: int, precision: torch.dtype, device: torch.device | None = None) -> Tensor:
    """Base-2 logarithms of the fixed slopes, (H,).

    For a power of two, head i = 1, ..., H has 2^(-8i / H). Otherwise the largest power of two n below H has its own
    slopes, and the other heads take every second slope of 2n heads, from the first on (the authors' published code).
    """
    power = 1 << (heads.bit_length() - 1)
    own = -8 / power * torch.arange(1, power + 1, dtype=precision, device=device)
    between = -8 / (2 * power) * torch.arange(1, 2 * power, 2, dtype=precision, device=device)
    return torch.cat((own, between[: heads - power]))


class LinearBiases(Relative):
    """Scores lose a head's slope times the distance |query - key|, in either direction; the bias is not scaled.

    Source: Press et al. 2022, section 3, and its authors' answer for encoders, where the bias is symmetric. Learned
    slopes are trained as base-2 logarithms, so that they stay positive, from the fixed ones on: one a head, shared by
    the layers of a stack as the fixed ones are.
    """

    @classmethod
    def of(cls, model: Model, causal: bool) -> Self:
        """As ``model`` asks for it."""
        return cls(model.heads, learned=model.position_slopes == "learned")

    def __init__(self, heads: int, learned: bool) -> None:
        super().__init__()
        self.heads = heads
        self.log2_slopes = nn.Parameter(torch.empty(heads)) if learned else None

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """The fixed slopes' logarithms."""
        return slope_exponents(self.heads, torch.float32)

    def score_bias(self, q_BTHK: Tensor, keys: int, offset: int) -> Tensor:
        """Minus slope times distance, (H, T, S), in float32 at least."""
        distances_TS = key_offsets(q_BTHK.shape[1], keys, offset, q_BTHK.device).abs()
        precision = torch.promote_types(q_BTHK.dtype, torch.float32)
        if self.log2_slopes is None:
            exponents_H = slope_exponents(self.heads, precision, q_BTHK.device)
        else:
            exponents_H = cast(Tensor, self.log2_slopes).to(precision)
        return -torch.exp2(exponents_H)[:, None, None] * distances_TS
