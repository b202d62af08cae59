"""Statistics against SciPy, and the values of SWP-13."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ablatable.report.statistics import difference, summarise
from ablatable.report.student import critical, two_sided_p


def test_swp_13_mean_and_sample_sd() -> None:
    """SWP-13: 27.1, 27.5, 27.9 is 27.5 +/- 0.4 (n - 1), not 0.3266 (population)."""
    sample = summarise([27.1, 27.5, 27.9])
    assert sample is not None
    assert sample.mean == pytest.approx(27.5)
    assert sample.sd == pytest.approx(0.4)
    assert sample.n == 3


def test_swp_13_one_value_has_no_spread() -> None:
    """SWP-13: n = 1 rows show no +/-."""
    sample = summarise([27.1])
    assert sample is not None
    assert sample.sd is None
    assert summarise([]) is None


@given(t=st.floats(0, 60), freedom=st.floats(1, 200))
def test_p_equals_scipy(t: float, freedom: float) -> None:
    assert two_sided_p(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 3, 4.7, 10, 50, 500])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_critical_equals_scipy(freedom: float, level: float) -> None:
    assert critical(freedom, level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-9)


VALUES = st.lists(st.floats(10, 40), min_size=2, max_size=6)


@given(row=VALUES, base=VALUES)
def test_common_seeds_are_paired_as_scipy_does(row: list[float], base: list[float]) -> None:
    size = min(len(row), len(base))
    ours, theirs = row[:size], base[:size]
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    if max(gaps) - min(gaps) < 1e-6:
        return
    found = difference(dict(enumerate(ours)), dict(enumerate(theirs)))
    expected = stats.ttest_rel(ours, theirs)
    low, high = expected.confidence_interval(0.95)
    assert found is not None
    assert found.method == "paired"
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert (found.low, found.high) == (pytest.approx(low, rel=1e-6), pytest.approx(high, rel=1e-6))


@given(row=VALUES, base=VALUES)
def test_other_seeds_are_compared_by_welch_as_scipy_does(row: list[float], base: list[float]) -> None:
    if max(row) - min(row) < 1e-3 or max(base) - min(base) < 1e-3:
        return
    found = difference(dict(enumerate(row)), {100 + i: value for i, value in enumerate(base)})
    expected = stats.ttest_ind(row, base, equal_var=False)
    low, high = expected.confidence_interval(0.95)
    assert found is not None
    assert found.method == "welch"
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert found.low == pytest.approx(low, rel=1e-6, abs=1e-9)
    assert found.high == pytest.approx(high, rel=1e-6, abs=1e-9)


def test_paired_seeds_see_what_unpaired_ones_cannot() -> None:
    base = {1: 20.0, 2: 25.0, 3: 30.0}
    row = {seed: value + 1 + seed / 100 for seed, value in base.items()}
    paired = difference(row, base)
    unpaired = difference({seed + 10: value for seed, value in row.items()}, base)
    assert paired is not None
    assert unpaired is not None
    assert paired.is_noise is False
    assert unpaired.is_noise is True


def test_partial_seeds_are_paired_over_those_both_rows_have() -> None:
    found = difference({1: 21.0, 3: 33.0}, {1: 20.0, 2: 99.0, 3: 30.0})
    assert found is not None
    assert found.value == 2.0


def test_a_single_run_gives_a_difference_and_no_test() -> None:
    found = difference({1: 21.0}, {1: 20.0, 2: 20.5})
    assert found is not None
    assert found.value == pytest.approx(0.75)
    assert (found.low, found.high, found.p, found.method, found.is_noise) == (None,) * 5


def test_nothing_to_compare() -> None:
    assert difference({}, {1: 1.0}) is None
    assert difference({1: 1.0}, {}) is None


@pytest.mark.parametrize(("shift", "p", "noise"), [(0.0, 1.0, True), (1.0, 0.0, False)])
def test_differences_without_spread(shift: float, p: float, noise: bool) -> None:
    found = difference({1: 20.0 + shift, 2: 21.0 + shift}, {1: 20.0, 2: 21.0})
    assert found is not None
    assert (found.p, found.is_noise) == (p, noise)
    assert math.isfinite(found.value)
