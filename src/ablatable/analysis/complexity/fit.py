"""Exponents: the slope of a straight line through the points in log-log, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ablatable.analysis.intervals import LEVEL, Interval

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Exponent:
    """y as a power of x.

    Args:
        interval: the exponent and the ends of its interval, curvature counted.
        straight: the same with the interval of the straight line alone.
        upper: the slope at the upper end of a parabola through the points.
        first: the smallest x.
        last: the largest x.
        points: how many.
    """

    interval: Interval
    straight: Interval
    upper: float
    first: int
    last: int
    points: int


def exponent(x: Sequence[int], y: Sequence[float]) -> Exponent | None:
    """Fit log y = a + b log x by least squares; None with fewer than four points or without spread.

    The straight line's interval is Student's, from the points' scatter about it, with two degrees of freedom less than
    points. Scatter is all it knows of: where the points bend, because overheads fade or a cache fills, the mean slope
    is known better than what it is taken for, the slope for large x. So a parabola is fitted too, and the interval is
    extended to its slope at the upper end of the range. Its coverage is then the level at least where the law is a
    power, and where it only becomes one, the interval reaches to where it is going.
    """
    if len(x) < 4 or len(set(x)) < 4:
        return None
    u, v = np.log(np.asarray(x, dtype=np.float64)), np.log(np.asarray(y, dtype=np.float64))
    centred: Values = u - u.mean()
    spread = float((centred**2).sum())
    slope = float((centred * v).sum()) / spread
    scatter = float(((v - v.mean() - slope * centred) ** 2).sum()) / (len(x) - 2)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(x) - 2)) * float(np.sqrt(scatter / spread))
    bend, tilt = (float(one) for one in np.polyfit(centred, v, 2)[:2])
    upper = tilt + 2 * bend * float(centred.max())
    straight = Interval(slope, slope - reach, slope + reach)
    interval = Interval(slope, min(straight.low, upper), max(straight.high, upper))
    return Exponent(interval, straight, upper, min(x), max(x), len(x))
