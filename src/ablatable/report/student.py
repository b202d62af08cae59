"""Student's t distribution in double precision, without SciPy and its two seconds of import."""

from __future__ import annotations

import math
from functools import cache

_TINY = 1e-300
_STEPS = 500


def two_sided_p(t: float, freedom: float) -> float:
    """P(|T| >= |t|) for T with ``freedom`` > 0 degrees of freedom (not necessarily an integer)."""
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


@cache
def critical(freedom: float, level: float = 0.95) -> float:
    """The t that a two-sided interval of that level reaches, P(|T| <= t) = level, by bisection."""
    low, high = 0.0, 1.0
    while two_sided_p(high, freedom) > 1 - level:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if two_sided_p(middle, freedom) > 1 - level:
            low = middle
        else:
            high = middle


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0 <= x <= 1 (DLMF 8.17)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast only on this side of the mean (DLMF 8.17.4)
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    log_front = a * math.log(x) + b * math.log1p(-x) - log_beta
    return math.exp(log_front) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)) of DLMF 8.17.22, from the front by the modified Lentz method."""
    value = ratio = 1.0
    inverse = 0.0
    for step in range(1, _STEPS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        inverse = 1 / _not_zero(1 + term * inverse)
        ratio = _not_zero(1 + term / ratio)
        value *= ratio * inverse
        if abs(ratio * inverse - 1) < 1e-16:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
