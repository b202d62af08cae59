"""Learning curves as text: a letter a side, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from ablatable.report.compare.model import Curve, Point

Axis = Literal["update", "target_tokens"]

AXES: dict[Axis, str] = {"update": "updates", "target_tokens": "target tokens"}
"""What curves are drawn against."""

SHARED = "+"
"""Where several sides fall on one place."""

_MARGIN = 8


def draw(curves: Sequence[Curve], axis: Axis, width: int = 64, height: int = 14) -> str:
    """The validation NLL of every side against updates or tokens, lines joined between the validations.

    ``width`` and ``height`` are the characters of the plot itself. Empty where no side has a validation
    with a place there.
    """
    curves = [curve for curve in curves if axis == "update" or tells_tokens(curve)]
    points = [point for curve in curves for point in curve.points]
    if not points:
        return ""
    left, right = _bounds([at(point, axis) for point in points])
    low, high = _bounds([point.nll for point in points])
    cells: dict[tuple[int, int], set[str]] = {}
    for curve in curves:
        for column, value in _columns(curve, axis, left, right, width):
            line = round((high - value) / (high - low) * (height - 1))
            cells.setdefault((line, column), set()).add(curve.letter)
    return "\n".join([*_lines(cells, low, high, width, height), *_below(axis, left, right, width)])


def tells_tokens(curve: Curve) -> bool:
    """Whether its tokens were counted: those of an imported run are not known."""
    return any(point.target_tokens > 0 for point in curve.points)


def at(point: Point, axis: Axis) -> float:
    """Where a point stands on the horizontal axis."""
    return float(point.update if axis == "update" else point.target_tokens)


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest, held apart where they are one."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _columns(curve: Curve, axis: Axis, left: float, right: float, width: int) -> list[tuple[int, float]]:
    """(column, NLL) for every column the curve crosses, straight lines between its points."""
    placed = [((at(point, axis) - left) / (right - left) * (width - 1), point.nll) for point in curve.points]
    found = {round(place): value for place, value in placed}
    for (here, value), (there, other) in pairwise(placed):
        for column in range(round(here) + 1, round(there)):
            found[column] = value + (other - value) * (column - here) / (there - here)
    return sorted(found.items())


def _lines(cells: dict[tuple[int, int], set[str]], low: float, high: float, width: int, height: int) -> list[str]:
    lines: list[str] = []
    for line in range(height):
        drawn = "".join(_mark(cells.get((line, column), set())) for column in range(width)).rstrip()
        value = high - (high - low) * line / (height - 1)
        label = f"{value:.3g}" if line % 4 == 0 or line == height - 1 else ""
        lines.append(f"{label:>{_MARGIN - 2}} |{drawn}")
    return lines


def _mark(letters: set[str]) -> str:
    return " " if not letters else next(iter(letters)) if len(letters) == 1 else SHARED


def _below(axis: Axis, left: float, right: float, width: int) -> list[str]:
    first, last = f"{left:,.0f}", f"{right:,.0f}"
    middle = AXES[axis]
    room = width - len(first) - len(last)
    return [f"{'':>{_MARGIN - 2}} +{'-' * width}", f"{'':>{_MARGIN}}{first}{middle:^{max(room, 0)}}{last}"]
