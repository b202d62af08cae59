"""Rotary positions: queries and keys are rotated, so that their product knows their offset only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Self

import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.nn.growing import GrowingTable
from ablatable.nn.relative.base import Relative


def _interleaved(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Pairs are channels (2i, 2i + 1)."""
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1).flatten(-2)


def _halves(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Pairs are channels (i, i + K/2)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)


LAYOUTS = {"interleaved": _interleaved, "halves": _halves}


def _phases(key_size: int, base: float, rows: int) -> Tensor:
    """Cosines and sines of p * base^(-2i / key_size): (rows, 2, key_size / 2)."""
    frequencies = base ** -(torch.arange(0, key_size, 2, dtype=torch.float64) / key_size)
    phases = torch.arange(rows, dtype=torch.float64)[:, None] * frequencies
    return torch.stack((phases.cos(), phases.sin()), dim=1)


class Rotary(Relative):
    """Pair i of a query or key at position p turns by p * base^(-2i / d_k); values never turn.

    Source: Su et al. 2021, section 3.2 (layout interleaved); ``halves`` is the layout of GPT-NeoX and LLaMA. Phases are
    computed in float64, and rotations in float32 at least, whatever the precision of the model.
    """

    @classmethod
    def of(cls, model: Model, causal: bool) -> Self:
        """As ``model`` asks for it."""
        return cls(model.key_size, LAYOUTS[model.position_layout], model.position_base)

    def __init__(self, key_size: int, layout: Callable[[Tensor, Tensor, Tensor], Tensor], base: float) -> None:
        super().__init__()
        self.layout = layout
        self.table = GrowingTable(partial(_phases, key_size, base))

    def rotate(self, x_BTHK: Tensor, offset: int) -> Tensor:
        """Rotate queries or keys (B, T, H, K) of positions offset, offset + 1, ..."""
        x = x_BTHK.to(torch.promote_types(x_BTHK.dtype, torch.float32))
        cosine_T1P, sine_T1P = self.table.rows(offset, offset + x.shape[1], x)[:, :, None].unbind(1)
        return self.layout(x, cosine_T1P, sine_T1P).to(x_BTHK.dtype)
