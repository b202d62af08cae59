"""Confidence intervals cover what they should as often as they say."""

import numpy as np
import pytest
from scipy import stats

from ablatable.analysis.intervals import (
    Interval,
    each_of,
    mean_interval,
    positive_mean_interval,
    slope_interval,
    variance_degrees,
    variance_interval,
)


def _coverage(draw, interval, truth: float, level: float = 0.9, repeats: int = 400) -> float:
    random = np.random.default_rng(1)
    return float(np.mean([truth in interval(draw(random), level) for _ in range(repeats)]))


def test_an_interval_holds_its_ends_and_divides() -> None:
    one = Interval(2.0, 1.0, 4.0)
    assert 1.0 in one
    assert 4.0 in one
    assert 0.999 not in one
    assert one.divided_by(2) == Interval(1.0, 0.5, 2.0)


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("normal", lambda random: random.standard_normal(300)),
        ("uniform", lambda random: random.uniform(-np.sqrt(3), np.sqrt(3), 300)),
        ("product", lambda random: (random.standard_normal((300, 4)) * random.standard_normal((300, 4))).sum(1) / 2),
    ],
)
def test_variances_are_covered_whatever_the_tails(name: str, draw) -> None:
    """400 repeats at 90 %: 6 % is four standard errors."""
    assert _coverage(draw, variance_interval, 1.0) == pytest.approx(0.9, abs=0.06)


def test_without_the_tails_a_product_would_not_be_covered() -> None:
    def naive(values, level):
        n, variance = len(values), values.var(ddof=1)
        low, high = (stats.chi2.ppf(p, n - 1) for p in ((1 - level) / 2, (1 + level) / 2))
        return Interval(variance, (n - 1) * variance / high, (n - 1) * variance / low)

    def draw(random):
        return random.standard_normal(300) * random.standard_normal(300)

    assert _coverage(draw, naive, 1.0) < 0.7
    assert _coverage(draw, variance_interval, 1.0) > 0.8


def test_degrees_of_freedom_of_a_normal_sample_are_about_its_size() -> None:
    values = np.random.default_rng(1).standard_normal(20_000)
    assert variance_degrees(values) == pytest.approx(19_999, rel=0.05)


def test_means_are_covered() -> None:
    assert _coverage(lambda random: 3 + random.standard_normal(8), mean_interval, 3.0) == pytest.approx(0.9, abs=0.06)


def test_means_of_skewed_positive_values_are_covered_and_positive() -> None:
    def draw(random):
        return (random.standard_normal((12, 4)) ** 2).mean(1)

    assert _coverage(draw, positive_mean_interval, 1.0) == pytest.approx(0.9, abs=0.06)
    assert positive_mean_interval(np.array([0.01, 5.0])).low > 0


def test_slopes_are_covered_and_follow_the_line() -> None:
    x, error = np.arange(6.0), np.array([0.1, 0.2, 0.1, 0.3, 0.1, 0.2])

    def interval(noise, level):
        return slope_interval(x, 1 + 2 * x + noise * error, error, level)

    assert _coverage(lambda random: random.standard_normal(6), interval, 2.0) == pytest.approx(0.9, abs=0.06)
    assert slope_interval(x, 1 + 2 * x, error).estimate == pytest.approx(2.0)


def test_many_intervals_at_once_are_each_wider() -> None:
    assert each_of(1) == pytest.approx(0.95)
    assert each_of(50, 0.95) == pytest.approx(0.999)
    values = np.random.default_rng(1).standard_normal(50)
    wide, narrow = mean_interval(values, each_of(50)), mean_interval(values, each_of(1))
    assert wide.high - wide.low > narrow.high - narrow.low
