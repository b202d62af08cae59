"""Pictures of absolute encodings and of the rotation that leads from one position to another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ablatable.analysis.positions.encodings import Encodings, Similarity
from ablatable.analysis.positions.rotation import Rotation, Turn
from ablatable.analysis.style import REFERENCE, SEQUENTIAL, drawing, figure, of_run, save, series

_SHOWN_OFFSET = 10
_SHOWN_DEGREES = (100, 40, 12)
"""How far the pairs that are drawn turn, about."""


def draw_encodings(
    tables: list[Encodings], similarities: list[Similarity], folder: Path, run: str | None
) -> list[Path]:
    """A row for each table: its channels, its products by offset, and the cosine of every two positions."""
    with drawing():
        made = figure(16, 3.9 * len(tables) + 0.5)
        made.suptitle(of_run("Encodings of positions, as they meet the embeddings", run))
        grid = made.subplots(len(tables), 3, squeeze=False, width_ratios=(2.2, 1.2, 1))
        for row, (of, alike) in enumerate(zip(tables, similarities, strict=True)):
            _draw_table(made, grid[row, 0], of)
            _draw_products(grid[row, 1], alike)
            _draw_cosines(made, grid[row, 2], alike)
        return save(made, folder, "encodings")


def _name(of: Encodings | Similarity) -> str:
    return of.name if of.stack is None else f"{of.name}, {of.stack}"


def _draw_table(made: Figure, axes: Axes, of: Encodings) -> None:
    table = of.table.numpy()
    most = float(np.abs(table).max())
    image = axes.imshow(table, aspect="auto", cmap=SEQUENTIAL, vmin=-most, vmax=most, interpolation="nearest")
    axes.set_title(f"{_name(of)}: the table")
    axes.set_xlabel("channel")
    axes.set_ylabel("position")
    made.colorbar(image, ax=axes, label="value")


def _draw_products(axes: Axes, alike: Similarity) -> None:
    # Offsets that few pairs have say little of the rest.
    shown = alike.offsets[: max(2, len(alike.offsets) * 3 // 4)]
    style = series(0)
    axes.fill_between(
        shown, alike.least[: len(shown)], alike.largest[: len(shown)], color="0.8", label="least to largest over p"
    )
    axes.plot(shown, alike.product[: len(shown)], color=style["color"], label="mean over p")
    axes.set_title("Product by offset")
    axes.set_ylim(bottom=min(0.0, *alike.least[: len(shown)]))
    axes.set_xlabel("offset k")
    axes.set_ylabel("PE(p) · PE(p + k)")
    axes.legend(loc="upper right")


def _draw_cosines(made: Figure, axes: Axes, alike: Similarity) -> None:
    cosines = np.array(alike.cosines)
    low = min(0.0, float(np.nanmin(cosines)))
    image = axes.imshow(cosines, cmap=SEQUENTIAL, vmin=low, vmax=1, interpolation="nearest")
    axes.set_title("Cosine of every two positions")
    axes.set_xlabel("position")
    axes.set_ylabel("position")
    made.colorbar(image, ax=axes, label="cosine")


def draw_rotation(found: Rotation, folder: Path, name: str, run: str | None) -> list[Path]:
    """Three pairs of channels as points on a circle, turned by the same angle wherever they stand."""
    turn = next((one for one in found.turns if one.offset == _SHOWN_OFFSET), found.turns[0])
    wanted = [math.radians(degrees) / turn.offset for degrees in _SHOWN_DEGREES]
    waves = [min(range(len(found.frequencies)), key=lambda i: abs(found.frequencies[i] - one)) for one in wanted]
    with drawing():
        made = figure(13, 4.6)
        title = (
            f"PE(p + k) is PE(p), each pair of channels turned by k times its frequency ({found.layout}, "
            f"d_model {found.d_model})\nlargest error of the fitted turns on positions they were not fitted to: "
            f"{max(one.residual for one in found.turns):.0e}"
        )
        made.suptitle(of_run(title, run))
        *circles, last = made.subplots(1, 4, width_ratios=(1, 1, 1, 1.15))
        for axes, wave in zip(circles, waves, strict=True):
            _draw_circle(axes, found.frequencies[wave], turn, wave)
        _draw_angles(last, found)
        return save(made, folder, name)


def _draw_circle(axes: Axes, frequency: float, turn: Turn, wave: int) -> None:
    """Three positions a third of a turn apart, and the arc that the fitted map turns each by."""
    _arc(axes, 0, 2 * math.pi, REFERENCE)
    for index in range(3):
        start = round(index * 2 * math.pi / 3 / frequency)
        style = series(index)
        here = start * frequency
        _arc(axes, here, turn.angles[wave], {"color": style["color"], "linewidth": 2.5})
        axes.annotate("", xy=_at(here + turn.angles[wave]), xytext=_at(here + 0.97 * turn.angles[wave]),
                      arrowprops={"arrowstyle": "-|>", "color": style["color"], "mutation_scale": 16})  # fmt: skip
        axes.plot(*_at(here), marker=style["marker"], color=style["color"], markersize=8, linestyle="none",
                  label=f"p = {start}")  # fmt: skip
    axes.set_aspect("equal")
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), xlabel="cosine channel", ylabel="sine channel")
    axes.set_xticks([-1, 0, 1])
    axes.set_yticks([-1, 0, 1])
    turned = math.degrees(turn.angles[wave])
    axes.set_title(f"pair {wave}: {2 * math.pi / frequency:,.0f} positions a turn\nk = {turn.offset}: {turned:.1f}°")
    axes.legend(loc="center", fontsize=9)


def _arc(axes: Axes, start: float, angle: float, style: dict[str, Any]) -> None:
    along = start + np.linspace(0, angle, 200)
    axes.plot(np.cos(along), np.sin(along), **style)


def _at(angle: float) -> tuple[float, float]:
    return math.cos(angle), math.sin(angle)


def _draw_angles(axes: Axes, found: Rotation) -> None:
    """Fitted angles of all pairs against k times the frequency."""
    frequencies = np.array(found.frequencies)
    for index, turn in enumerate(found.turns):
        style = series(index)
        expected = turn.offset * frequencies
        seen = expected < math.pi  # beyond half a turn an angle is known up to whole turns only
        pairs = np.arange(len(frequencies))
        axes.plot(pairs[seen], expected[seen], **REFERENCE)
        every = max(1, int(seen.sum()) // 14)
        axes.plot(
            pairs[seen][::every], np.array(turn.angles)[seen][::every], linestyle="none", marker=style["marker"],
            color=style["color"], label=f"k = {turn.offset}",
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_title("fitted angles of every pair\n(dotted: k times its frequency)")
    axes.set_xlabel("pair, from the fastest wave on")
    axes.set_ylabel("angle (radians)")
    axes.legend(loc="upper right")
