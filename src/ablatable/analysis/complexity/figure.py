"""The picture of the measured Table 1: a pure function of the file of measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ablatable.analysis import style
from ablatable.analysis.complexity.measurements import Measurements
from ablatable.analysis.complexity.settings import COMPARED, Along, Point
from ablatable.analysis.complexity.summary import EXAMPLES, size, values
from ablatable.analysis.complexity.theory import LAYERS, path_length

NAME = "complexity"
SHOWN = ("self-attention", "recurrent", "convolutional", "dilated", "restricted", "restricted-masked")
"""Layers in the pictures of cost, in the order of their styles."""
PATHS_SHOWN = ("self-attention", "recurrent", "convolutional", "dilated", "restricted")
"""Kinds of path in the picture."""
_MEGA, _GIGA, _MILLI = 2**20, 1e9, 1e3


def draw(made: Measurements, folder: Path) -> list[Path]:
    """Write complexity.png and complexity.svg into ``folder`` and return their paths."""
    with style.drawing():
        figure = style.figure(13.5, 8.4)
        panels: Any = figure.subplots(2, 3)
        _time(panels[0, 0], made, "n")
        _time(panels[0, 1], made, "d")
        _rate(panels[0, 2], made, "d")
        _memory(panels[1, 0], made)
        _paths(panels[1, 1], made)
        _crossing(panels[1, 2], made)
        figure.suptitle(_about(made), fontsize=10)
        figure.legend(handles=_legend(), loc="outside lower center", ncols=len(SHOWN))
        return style.save(figure, folder, NAME)


def _about(made: Measurements) -> str:
    settings = made.settings
    passes = "forward and backward" if settings.backward else "forward"
    threads = "1 thread" if settings.threads == 1 else f"{settings.threads} threads"
    return (
        f"One layer, {passes}, float32, {made.machine['device']}, {threads}; k = {settings.kernel}, r = "
        f"{settings.window}. Filled marks: the range the exponents are fitted to; hollow: outside of it."
    )


def _look(layer: str, **changes: Any) -> dict[str, Any]:
    """A layer's line and marks, but for what is to be different."""
    return style.series(SHOWN.index(layer)) | changes


def _legend() -> list[Line2D]:
    return [Line2D([], [], label=LAYERS[layer].title, **_look(layer)) for layer in SHOWN]


def _time(axes: Axes, made: Measurements, along: Along) -> None:
    for layer in SHOWN:
        _curve(axes, made, layer, along, lambda points: [_MILLI * s for s in values(made, points, "time")])
    _slopes(axes)
    settings = made.settings
    fixed = f"d = {settings.at_d}" if along == "n" else f"n = {settings.at_n}"
    _label(axes, f"Time of one call, {fixed}", along, "time (ms)")


def _slopes(axes: Axes) -> None:
    """Dotted lines of exponents 1 and 2 from a point below all others, to compare with."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _, right = axes.get_xlim()
    bottom, _ = axes.get_ylim()
    start, end = right / 8, right / 2
    for power in (1, 2):
        axes.plot([start, end], [bottom, bottom * (end / start) ** power], **style.REFERENCE)
        axes.annotate(f"slope {power}", (end, bottom * (end / start) ** power), fontsize=8, va="center")


def _rate(axes: Axes, made: Measurements, along: Along) -> None:
    def rates(points: Sequence[Point]) -> list[float]:
        seconds = values(made, points, "time")
        return [made.settings.operations(point) / s / _GIGA for point, s in zip(points, seconds, strict=True)]

    for layer in SHOWN:
        _curve(axes, made, layer, along, rates)
    _label(axes, f"Why times bend: operations a second, n = {made.settings.at_n}", along, "10⁹ operations/s")
    axes.set_yscale("linear")
    axes.set_ylim(bottom=0)


def _memory(axes: Axes, made: Measurements) -> None:
    for layer in SHOWN:
        _curve(axes, made, layer, "n", lambda points: [b / _MEGA for b in values(made, points, "memory")])
    _label(axes, f"Memory at its peak, d = {made.settings.at_d}", "n", "beyond input and parameters (MiB)")


def _curve(
    axes: Axes, made: Measurements, layer: str, along: Along, of: Callable[[Sequence[Point]], list[float]]
) -> None:
    """One layer's line; markers outside the asymptotic range are hollow."""
    points = made.settings.sweep(layer, along)
    x, y = [size(point, along) for point in points], of(points)
    inside = [made.settings.asymptotic(point, along) for point in points]
    axes.plot(x, y, **_look(layer, marker=None))
    for filled in (True, False):
        at = [place for place, one in enumerate(inside) if one is filled]
        look = _look(layer, linestyle="none") if filled else _look(layer, linestyle="none", markerfacecolor="white")
        axes.plot([x[i] for i in at], [y[i] for i in at], **look)


def _paths(axes: Axes, made: Measurements) -> None:
    settings = made.settings
    for kind in PATHS_SHOWN:
        number = EXAMPLES[kind]
        found = sorted((n, length) for (one, n, of), length in made.paths.items() if (one, of) == (kind, number))
        every = range(2, max(settings.path_lengths) + 1)
        axes.plot(every, [path_length(kind, n, number) for n in every], **_look(kind, marker=None, linewidth=1.0))
        letter = "r" if kind == "restricted" else "k"
        label = LAYERS[kind].title.partition(",")[0] + (f", {letter} = {number}" if number else "")
        axes.plot([n for n, _ in found], [length for _, length in found], label=label, **_look(kind, linestyle="none"))
    _label(axes, "Maximum path: marks measured, lines closed form", "n", "layers (recurrent: steps)")
    axes.legend(loc="upper left")


def _crossing(axes: Axes, made: Measurements) -> None:
    """Times over the recurrent layer's, against n / d: one where they cross."""
    axes.axhline(1.0, **style.REFERENCE)
    axes.axvline(1.0, **style.REFERENCE)
    number = 0
    for layer in COMPARED:
        if layer == "recurrent":
            continue
        for d, lengths in made.settings.crossing.items():
            ratios = [median(made.seconds((layer, n, d))) / median(made.seconds(("recurrent", n, d))) for n in lengths]
            plus = " + projections" if layer != "self-attention" else ""
            axes.plot([n / d for n in lengths], ratios, label=f"attention{plus}, d = {d}", **style.series(number))
            number += 1
    _label(axes, "Self-attention's time over the recurrent's", "n", "ratio of times (1: they cross)")
    axes.set_xlabel("n / d (1: where O(n² d) meets O(n d²))")
    axes.set_yscale("log", base=2)
    axes.set_ylim(top=4 * axes.get_ylim()[1])  # room for the legend
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.legend(loc="upper left", fontsize=8, frameon=True, framealpha=1.0, edgecolor="white")


def _label(axes: Axes, title: str, along: Along, y: str) -> None:
    axes.set_title(title)
    axes.set_xlabel({"n": "sequence length n (positions)", "d": "width d (channels)"}[along])
    axes.set_ylabel(y)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
