"""Whether a search went far enough: a best value with nothing tried beyond it has not been bracketed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ablatable.errors import InputError
from ablatable.study.sweep.domains import Point, check_value

_FEWEST = 3
"""Different values below which one is at an end anyway."""


@dataclass(frozen=True)
class End:
    """A setting of the best trial that is the lowest or the highest of all that were tried."""

    path: str
    value: float
    end: Literal["lowest", "highest"]
    tried: int
    """Different values."""

    def __str__(self) -> str:
        beyond = "lower" if self.end == "lowest" else "higher"
        return f"{self.path}={self.value:.4g} is the {self.end} of {self.tried} tried: a {beyond} one may be better"


def at_an_end(best: Point, tried: Sequence[Point]) -> list[End]:
    """Settings of the best point that have no tried value on one side, though one is possible there.

    Args:
        best: the point that won.
        tried: every point that ended, whether completed, pruned or failed: what failed beyond the best brackets it.
    """
    found: list[End] = []
    for path in best:
        value = _number(best, path)
        values = sorted({other for point in tried if (other := _number(point, path)) is not None})
        if value is None or len(values) < _FEWEST:
            continue
        if value == values[0] and _possible(path, value, -math.inf):
            found.append(End(path, value, "lowest", len(values)))
        if value == values[-1] and _possible(path, value, math.inf):
            found.append(End(path, value, "highest", len(values)))
    return found


def _number(point: Point, path: str) -> float | None:
    value = point.get(path)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _possible(path: str, value: float, towards: float) -> bool:
    """Whether the setting may be any further that way, whatever the others are."""
    further = value + int(math.copysign(1, towards)) if isinstance(value, int) else math.nextafter(value, towards)
    try:
        check_value(path, further, path)
    except InputError:
        return False
    return True
