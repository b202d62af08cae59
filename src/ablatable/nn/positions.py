"""How order enters with the embeddings: what is added to them, or set beside them, in both stacks (section 3.5).

Shapes: B batch, T positions, D d_model, P width of an encoding. Each class has ``forward(x_BTD, offset)``, where
``offset`` is the position of the first of the T rows, and ``limit``, the number of positions it can represent (None:
any). Kinds that act on offsets in self-attention are in :mod:`ablatable.nn.relative`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Self

import torch
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.growing import GrowingTable
from ablatable.nn.initial import scaled_normal
from ablatable.nn.linear import linear


def interleaved(rows: int, width: int, base: float = 10000.0) -> Tensor:
    """The paper's table (rows, width): channel 2i is sin(p / base^(2i/width)), channel 2i + 1 its cosine; float64."""
    wave_lengths = torch.pow(base, torch.arange(0, width, 2, dtype=torch.float64) / width)
    phases = torch.arange(rows, dtype=torch.float64)[:, None] / wave_lengths
    return torch.stack((phases.sin(), phases.cos()), dim=-1).flatten(1)[:, :width]


def halves(rows: int, width: int, base: float = 10000.0) -> Tensor:
    """The first public code's table (rows, width): sines, then cosines, of p / base^(i / (width/2 - 1)); float64.

    An odd width ends in a channel of zeros.
    """
    half = width // 2
    wave_lengths = torch.pow(base, torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
    phases = torch.arange(rows, dtype=torch.float64)[:, None] / wave_lengths
    return torch.cat((phases.sin(), phases.cos(), torch.zeros(rows, width % 2, dtype=torch.float64)), dim=1)


LAYOUTS = {"interleaved": interleaved, "halves": halves}


class AbsolutePositions(nn.Module, ABC):
    """An encoding p of each position, combined with what stands there: x + p, or W [x; p].

    W (d_model, d_model + P) is trained, has no bias and belongs to one stack.
    """

    limit: int | None = None

    def __init__(self, d_model: int, width: int, concatenate: bool) -> None:
        super().__init__()
        self.projection = linear(d_model + width, d_model, bias=False) if concatenate else None

    @abstractmethod
    def encodings(self, x_BTD: Tensor, offset: int) -> Tensor:
        """The encodings (T, P) of positions offset, offset + 1, ... in the precision of ``x``."""

    def forward(self, x_BTD: Tensor, offset: int = 0) -> Tensor:
        """Combine ``x`` with the encodings of positions offset, offset + 1, ..."""
        encodings_TP = self.encodings(x_BTD, offset)
        if self.projection is None:
            return x_BTD + encodings_TP
        joined = torch.cat((x_BTD, encodings_TP.expand(*x_BTD.shape[:-1], -1)), dim=-1)
        # Under autocast the sum of embedding and position stays float32, and so does this; a large number as a feature
        # would not survive bfloat16.
        with torch.autocast(x_BTD.device.type, enabled=False):
            return self.projection(joined.to(self.projection.weight.dtype))


def _rows(layout: Callable[[int, int], Tensor], width: int, rows: int) -> Tensor:
    # A function of its own and no lambda, because other ranks get their model pickled.
    return layout(rows, width)


class SinusoidalPositions(AbsolutePositions):
    """Fixed sinusoids; the table grows with the longest input.

    Phases are computed in float64, and the table is float32 at least, whatever the precision of the model.
    """

    @classmethod
    def of(cls, model: Model) -> Self:
        """As ``model`` asks for them."""
        layout = partial(LAYOUTS[model.position_layout], base=model.position_base)
        return cls(model.d_model, layout, _concatenate(model))

    def __init__(self, d_model: int, layout: Callable[[int, int], Tensor], concatenate: bool = False) -> None:
        super().__init__(d_model, d_model, concatenate)
        self.table = GrowingTable(partial(_rows, layout, d_model))

    def encodings(self, x_BTD: Tensor, offset: int) -> Tensor:
        """The sinusoids (T, D) of positions offset, offset + 1, ..."""
        return self.table.rows(offset, offset + x_BTD.shape[-2], x_BTD)


class LearnedPositions(AbsolutePositions):
    """One trained row per position (Gehring et al. 2017; Table 3 (E))."""

    @classmethod
    def of(cls, model: Model) -> Self:
        """As ``model`` asks for them."""
        return cls(model.d_model, model.position_max, _concatenate(model))

    def __init__(self, d_model: int, rows: int, concatenate: bool = False) -> None:
        super().__init__(d_model, d_model, concatenate)
        self.limit = rows
        self.weight = nn.Parameter(torch.empty(rows, d_model))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, 1/d_model)."""
        return scaled_normal(shape, generator)

    def encodings(self, x_BTD: Tensor, offset: int) -> Tensor:
        """The rows (T, D) of positions offset, offset + 1, ...

        Raises:
            InputError: a position has no row.
        """
        end = offset + x_BTD.shape[-2]
        if end > self.weight.shape[0]:
            raise InputError(
                f"a sequence of {end} positions is longer than model.position_max={self.weight.shape[0]}; "
                "raise model.position_max or shorten the text (data.max_length, decode.extra_tokens)"
            )
        return self.weight[offset:end]


class IndexPositions(AbsolutePositions):
    """The position's number itself, 0, 1, 2, ..., as one feature.

    Concatenated, the number is one more channel beside the embedding. Added, it comes in a trained direction: x + p w.
    """

    @classmethod
    def of(cls, model: Model) -> Self:
        """As ``model`` asks for it."""
        return cls(model.d_model, _concatenate(model))

    def __init__(self, d_model: int, concatenate: bool = False) -> None:
        super().__init__(d_model, 1, concatenate)
        self.direction = None if concatenate else nn.Parameter(torch.empty(d_model))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, 1/d_model)."""
        return scaled_normal(shape, generator)

    def encodings(self, x_BTD: Tensor, offset: int) -> Tensor:
        """The numbers (T, 1), or their multiples (T, D) of the direction; counted in float32 at least."""
        precision = torch.promote_types(x_BTD.dtype, torch.float32)
        end = offset + x_BTD.shape[-2]
        numbers_T1 = torch.arange(offset, end, dtype=precision, device=x_BTD.device)[:, None]
        return (numbers_T1 if self.direction is None else numbers_T1 * self.direction).to(x_BTD.dtype)


class NoPositions(nn.Module):
    """Nothing: only the causal mask, or a relative kind in self-attention, tells of order."""

    limit: int | None = None

    @classmethod
    def of(cls, model: Model) -> Self:
        """Nothing to ask for."""
        return cls()

    def forward(self, x_BTD: Tensor, offset: int = 0) -> Tensor:
        """Return ``x`` as it is."""
        return x_BTD


def _concatenate(model: Model) -> bool:
    return model.position_combine == "concatenate"


KINDS: dict[str, Callable[[Model], nn.Module]] = {
    "sinusoidal": SinusoidalPositions.of,
    "learned": LearnedPositions.of,
    "index": IndexPositions.of,
    "none": NoPositions.of,
}
"""What meets the embeddings, by ``model.position``; the relative kinds leave them alone."""
