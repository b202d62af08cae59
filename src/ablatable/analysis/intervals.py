"""Estimates with their confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.95
"""The confidence that all intervals of one family hold at once."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def divided_by(self, divisor: float) -> Interval:
        """The interval of the quantity over a positive constant."""
        return Interval(self.estimate / divisor, self.low / divisor, self.high / divisor)


def each_of(count: int, level: float = LEVEL) -> float:
    """The level of each of ``count`` intervals that makes all of them hold at once with ``level`` (Bonferroni)."""
    return 1 - (1 - level) / count


def mean_interval(values: Values, level: float = LEVEL) -> Interval:
    """Student's interval of the mean of independent values; two at least."""
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
    reach = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * error
    return Interval(mean, mean - reach, mean + reach)


def positive_mean_interval(values: Values, level: float = LEVEL) -> Interval:
    """Student's interval of the mean on a logarithmic scale, for independent values that are positive and skewed.

    The logarithm of a mean is more nearly normal than the mean, and its error is the mean's relative error.
    """
    plain = mean_interval(values, level)
    factor = float(np.exp((plain.high - plain.estimate) / plain.estimate))
    return Interval(plain.estimate, plain.estimate / factor, plain.estimate * factor)


def variance_degrees(values: Values) -> float:
    """Degrees of freedom of a sample variance, 2 n / (excess kurtosis + 2 n / (n - 1)).

    n - 1 for a normal sample; fewer for heavier tails, such as those of a product (O'Neill 2014, Some useful moment
    results in sampling problems).
    """
    n = len(values)
    return 2 * n / (float(stats.kurtosis(values)) + 2 * n / (n - 1))


def variance_interval(values: Values, level: float = LEVEL) -> Interval:
    """The chi-square interval of the variance of independent values, its degrees of freedom by their kurtosis."""
    variance, degrees = float(values.var(ddof=1)), variance_degrees(values)
    low, high = (float(stats.chi2.ppf(p, degrees)) for p in ((1 - level) / 2, (1 + level) / 2))
    return Interval(variance, degrees * variance / high, degrees * variance / low)


def slope_interval(x: Values, y: Values, error: Values, level: float = LEVEL) -> Interval:
    """The slope of a straight line through points of known standard error, by weighted least squares."""
    weight = error**-2.0
    centred = x - float((weight * x).sum() / weight.sum())
    spread = float((weight * centred**2).sum())
    slope = float((weight * centred * y).sum()) / spread
    reach = float(stats.norm.ppf((1 + level) / 2)) / np.sqrt(spread)
    return Interval(slope, slope - float(reach), slope + float(reach))
