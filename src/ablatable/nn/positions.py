"""How order enters: what is added to the scaled embeddings of both stacks (section 3.5).

Shapes: B batch, T positions, D d_model. Each class has ``forward(x_BTD, offset)``, where ``offset`` is the
position of the first of the T rows, and ``limit``, the number of positions it can represent (None: any).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.initial import scaled_normal

_FIRST_ROWS = 512


def interleaved(rows: int, width: int) -> Tensor:
    """The paper's table (rows, width): channel 2i is sin(p / 10000^(2i/width)), channel 2i + 1 its cosine."""
    wave_lengths = torch.pow(10000.0, torch.arange(0, width, 2, dtype=torch.float64) / width)
    phases = torch.arange(rows, dtype=torch.float64)[:, None] / wave_lengths
    return torch.stack((phases.sin(), phases.cos()), dim=-1).flatten(1)[:, :width].float()


def halves(rows: int, width: int) -> Tensor:
    """The first public code's table (rows, width): sines, then cosines, of p / 10000^(i / (width/2 - 1)).

    An odd width ends in a channel of zeros.
    """
    half = width // 2
    wave_lengths = torch.pow(10000.0, torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
    phases = torch.arange(rows, dtype=torch.float64)[:, None] / wave_lengths
    return torch.cat((phases.sin(), phases.cos(), torch.zeros(rows, width % 2)), dim=1).float()


LAYOUTS = {"interleaved": interleaved, "halves": halves}


class SinusoidalPositions(nn.Module):
    """Adds fixed sinusoids; the table grows with the longest input.

    Phases are computed in float64 and stored in float32, whatever the precision of the model, because
    bfloat16 cannot tell position 256 from 257.
    """

    limit: int | None = None
    _table: Tensor

    @classmethod
    def of(cls, model: Model) -> SinusoidalPositions:
        """As ``model`` asks for them."""
        return cls(model.d_model, LAYOUTS[model.position_layout])

    def __init__(self, d_model: int, layout: Callable[[int, int], Tensor]) -> None:
        super().__init__()
        self.layout = layout
        self.register_buffer("_table", layout(_FIRST_ROWS, d_model), persistent=False)

    def forward(self, x_BTD: Tensor, offset: int = 0) -> Tensor:
        """Add the sinusoids of positions offset, offset + 1, ..."""
        end = offset + x_BTD.shape[-2]
        if end > self._table.shape[0]:
            rows = max(end, 2 * self._table.shape[0])
            self._table = self.layout(rows, x_BTD.shape[-1]).to(self._table)
        return x_BTD + self._table[offset:end]


class LearnedPositions(nn.Module):
    """Adds one trained row per position (Gehring et al. 2017; Table 3 (E))."""

    @classmethod
    def of(cls, model: Model) -> LearnedPositions:
        """As ``model`` asks for them."""
        return cls(model.d_model, model.position_max)

    def __init__(self, d_model: int, rows: int) -> None:
        super().__init__()
        self.limit: int | None = rows
        self.weight = nn.Parameter(torch.empty(rows, d_model))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, 1/d_model)."""
        return scaled_normal(shape, generator)

    def forward(self, x_BTD: Tensor, offset: int = 0) -> Tensor:
        """Add the rows of positions offset, offset + 1, ...

        Raises:
            InputError: a position has no row.
        """
        end = offset + x_BTD.shape[-2]
        if end > self.weight.shape[0]:
            raise InputError(
                f"a sequence of {end} positions is longer than model.position_max={self.weight.shape[0]}; "
                "raise model.position_max or shorten the text (data.max_length, decode.extra_tokens)"
            )
        return x_BTD + self.weight[offset:end]


class NoPositions(nn.Module):
    """Adds nothing: only the causal mask tells the decoder about order."""

    limit: int | None = None

    @classmethod
    def of(cls, model: Model) -> NoPositions:
        """Nothing to ask for."""
        return cls()

    def forward(self, x_BTD: Tensor, offset: int = 0) -> Tensor:
        """Return ``x`` as it is."""
        return x_BTD


KINDS: dict[str, Callable[[Model], nn.Module]] = {
    "sinusoidal": SinusoidalPositions.of,
    "learned": LearnedPositions.of,
}
"""What is combined with the embeddings, by ``model.position``; other kinds act in self-attention, or nowhere."""
