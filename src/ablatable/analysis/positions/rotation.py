"""PE(p + k) is a fixed rotation of PE(p) (section 3.5): measured, not assumed.

Each pair of channels (sine and cosine of one wave) should be turned by an angle that depends on k alone. The 2 x 2 map
from a pair at p to the pair at p + k is fitted by least squares on the first half of the positions and judged on the
second half, which it has not seen; then it is compared with the rotation by k times the wave's frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.nn.positions import SinusoidalPositions

OFFSETS = (1, 10, 100)
POSITIONS = 1024


@dataclass(frozen=True)
class Turn:
    """The fitted maps of all pairs for one offset k.

    Attributes:
        offset: k.
        angles: the angle each fitted map turns by, radians, in (-pi, pi], by pair from the fastest wave on.
        residual: largest error of a fitted map at positions it was not fitted to; encodings are at most 1.
        from_rotation: largest difference of a fitted map's entries from the rotation by k times the frequency.
        float32: largest error of that rotation on the table as the model has it, in float32.
    """

    offset: int
    angles: list[float]
    residual: float
    from_rotation: float
    float32: float


@dataclass(frozen=True)
class Rotation:
    """The property for one layout, base and width. ``frequencies`` in radians a position, by pair."""

    layout: str
    base: float
    d_model: int
    positions: int
    frequencies: list[float]
    turns: list[Turn]


def measure(model: Model, offsets: tuple[int, ...] = OFFSETS, positions: int = POSITIONS) -> Rotation:
    """Measure the sinusoids of ``model``, as its own module makes them."""
    sinusoids = SinusoidalPositions.of(model)
    exact, single = (
        _pairs(sinusoids.encodings(torch.zeros(positions, model.d_model, dtype=precision), 0), model.position_layout)
        for precision in (torch.float64, torch.float32)
    )
    frequencies = _frequencies(model)
    return Rotation(
        model.position_layout,
        model.position_base,
        model.d_model,
        positions,
        [float(one) for one in frequencies],
        [_turn(exact, single, frequencies, offset) for offset in offsets],
    )


def _frequencies(model: Model) -> Tensor:
    """By the formula of each layout (:mod:`ablatable.nn.positions`), written anew."""
    half = model.d_model // 2
    last = {"interleaved": half, "halves": max(half - 1, 1)}[model.position_layout]
    return torch.tensor([model.position_base ** -(i / last) for i in range(half)], dtype=torch.float64)


def _pairs(table_PD: Tensor, layout: str) -> Tensor:
    """Sine and cosine of each wave, (waves, P, 2)."""
    half = table_PD.shape[1] // 2
    channels = {"interleaved": (half, 2), "halves": (2, half)}[layout]
    pairs: Tensor = cast(Any, table_PD)[:, : 2 * half].unflatten(1, channels)
    return pairs.transpose(0, 1) if layout == "interleaved" else pairs.permute(2, 0, 1)


def _turn(exact: Tensor, single: Tensor, frequencies: Tensor, offset: int) -> Turn:
    here, there = exact[:, :-offset], exact[:, offset:]
    half = here.shape[1] // 2
    # Rows are encodings, so a fitted map stands on their right.
    maps = cast(Tensor, torch.linalg.lstsq(here[:, :half], there[:, :half]).solution)
    unseen = (here[:, half:] @ maps - there[:, half:]).abs().max()
    rotations = _rotations(offset * frequencies)
    # sin(a + b) = sin a cos b + cos a sin b: the map's first row has cos b, its second sin b, as what sine becomes.
    angles = torch.atan2(maps[:, 1, 0], maps[:, 0, 0])
    in_single = (single[:, :-offset].double() @ rotations - single[:, offset:].double()).abs().max()
    return Turn(
        offset,
        [float(one) for one in angles],
        float(unseen),
        float((maps - rotations).abs().max()),
        float(in_single),
    )


def _rotations(angles: Tensor) -> Tensor:
    """The maps of (sine, cosine) rows that add these angles, (waves, 2, 2)."""
    cosine, sine = angles.cos(), angles.sin()
    return torch.stack((torch.stack((cosine, -sine), -1), torch.stack((sine, cosine), -1)), -2)
