"""Exponents: of the leading term, beside a straight line in log-log, each with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ablatable.analysis.intervals import LEVEL, Interval

Values = NDArray[np.float64]
TRIED = 400
"""How many sizes of the lower term are tried; neighbours differ by 4 %."""


@dataclass(frozen=True)
class Exponent:
    """y as a power of x.

    Args:
        leading: the exponent of the leading term, with its interval.
        straight: the slope of a straight line in log-log, with its interval: the mean exponent over the range.
        lower: the lower term over the leading one at the smallest x.
        first: the smallest x.
        last: the largest x.
        points: how many.
    """

    leading: Interval
    straight: Interval
    lower: float
    first: int
    last: int
    points: int


def exponent(x: Sequence[int], y: Sequence[float], level: float = LEVEL) -> Exponent | None:
    """Fit y = c (x^p + b x^(p - 1)), b not negative, by least squares in log y; None with fewer than five sizes.

    O() speaks of the leading term; whatever a layer does beside its products (calls, copies, element by element) is an
    order lower, and where it is a few per cent of the smallest point, a straight line in log-log has a slope that is
    below the exponent by more than its interval. So one lower term is fitted along, from nothing to as much as the
    leading term at the smallest x. The interval holds every p that fits with some b so well that Student's t, with
    three degrees of freedom less than points, does not reject it; not knowing b widens it.
    """
    if len(set(x)) < 5:
        return None
    sizes, v = np.asarray(x, dtype=np.float64), np.log(np.asarray(y, dtype=np.float64))
    u = np.log(sizes)
    lower = np.concatenate(([0.0], np.geomspace(1e-7, 1.0, TRIED)))
    slopes, left = _lines(u, v[None] - np.log1p(lower[:, None] * sizes.min() / sizes[None]))
    best = int(left.argmin())
    spread = float(((u - u.mean()) ** 2).sum())
    limit = left[best] * (1 + _t(len(x) - 3, level) ** 2 / (len(x) - 3))
    reach = np.sqrt(np.maximum(limit - left, 0.0) / spread)
    fits = left <= limit
    leading = Interval(float(slopes[best]), float((slopes - reach)[fits].min()), float((slopes + reach)[fits].max()))
    half = _t(len(x) - 2, level) * float(np.sqrt(left[0] / (len(x) - 2) / spread))
    straight = Interval(float(slopes[0]), float(slopes[0]) - half, float(slopes[0]) + half)
    return Exponent(leading, straight, float(lower[best]), min(x), max(x), len(x))


def _lines(u: Values, v: Values) -> tuple[Values, Values]:
    """Slopes of the straight lines through each row of ``v`` over ``u``, and the squares that are left."""
    centred = u - u.mean()
    rows = v - v.mean(axis=1, keepdims=True)
    slopes: Values = rows @ centred / (centred**2).sum()
    left: Values = ((rows - slopes[:, None] * centred) ** 2).sum(axis=1)
    return slopes, left


def _t(degrees: int, level: float) -> float:
    return float(stats.t.ppf((1 + level) / 2, degrees))
