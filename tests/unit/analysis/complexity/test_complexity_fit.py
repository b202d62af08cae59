"""Exponents and crossings on data whose law is known."""

import random

import numpy as np
import pytest

from ablatable.analysis.complexity.crossing import crossing, equal
from ablatable.analysis.complexity.fit import exponent
from ablatable.analysis.complexity.settings import Settings

SIZES = (256, 384, 512, 768, 1024, 1536, 2048, 3072)


@pytest.mark.parametrize("power", [0, 1, 2, 1.5])
def test_an_exact_power_has_its_exponent_and_no_width(power: float) -> None:
    found = exponent(SIZES, [3e-9 * x**power for x in SIZES])
    assert found is not None
    for interval in (found.leading, found.straight):
        assert interval.estimate == pytest.approx(power, abs=1e-6)
        assert interval.high - interval.low < 1e-6
    assert (found.first, found.last, found.points) == (256, 3072, 8)


@pytest.mark.parametrize("level", [0.95, 0.996])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_intervals_cover_as_often_as_they_say(share: float, level: float) -> None:
    """1,000 draws of x² with a lower term of that share at the smallest x: never below the level by three standard
    errors, and not far above it but where the share lies at an end of what is allowed.
    """
    generator = np.random.default_rng(1)
    held = straight = 0
    for _ in range(1000):
        times = [x * (x + share * SIZES[0]) * float(np.exp(0.02 * generator.normal())) for x in SIZES]
        found = exponent(SIZES, times, level)
        assert found is not None
        held += 2.0 in found.leading
        straight += 2.0 in found.straight
    allowed = 3 * (level * (1 - level) / 1000) ** 0.5
    assert held / 1000 >= level - allowed
    assert straight / 1000 >= level - allowed if share == 0 else straight <= held


def test_a_lower_term_hides_the_exponent_from_a_straight_line_alone() -> None:
    """Half as much as the leading term at the smallest x: the line says 1.84 and is sure of it."""
    found = exponent(SIZES, [x * (x + 0.5 * SIZES[0]) for x in SIZES])
    assert found is not None
    assert 2.0 not in found.straight
    assert found.leading.estimate == pytest.approx(2.0, abs=0.01)
    assert found.lower == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("wrong", [1.0, 2.0])
def test_a_wrong_law_is_told(wrong: float) -> None:
    """n log n is neither n nor n²: what a lower term allows for does not swallow every exponent."""
    found = exponent(SIZES, [x * np.log(x) for x in SIZES])
    assert found is not None
    assert wrong not in found.leading


@pytest.mark.parametrize(("power", "wrong"), [(1, 2), (2, 1), (2, 3)])
def test_one_order_is_not_taken_for_another(power: int, wrong: int) -> None:
    """With noise of 5 % a point, which is more than an idle machine has."""
    generator = np.random.default_rng(2)
    for _ in range(100):
        found = exponent(SIZES, [x**power * float(np.exp(0.05 * generator.normal())) for x in SIZES], 0.996)
        assert found is not None
        assert wrong not in found.leading


@pytest.mark.parametrize("sizes", [(), (256, 512, 1024, 2048), (256, 256, 512, 1024, 2048)])
def test_too_few_points_are_not_fitted(sizes: tuple[int, ...]) -> None:
    assert exponent(sizes, [float(x) for x in sizes]) is None


LENGTHS = (64, 128, 256, 512, 1024, 2048)


def test_a_crossing_between_points_is_found() -> None:
    """4 n² d meets 16 n d² at n = 4 d, wherever the points lie: both are straight in log-log."""
    for d in (50, 64, 100, 300):
        assert equal(LENGTHS, lambda n, d=d: 4 * n * n * d, lambda n, d=d: 16 * n * d * d) == pytest.approx(4 * d)


@pytest.mark.parametrize("factor", [0.001, 1000.0])
def test_no_crossing_within_the_points_is_none(factor: float) -> None:
    assert equal(LENGTHS, lambda n: n * n, lambda n: n * factor * 100) is None


def test_the_crossing_is_the_last_one() -> None:
    costs = dict(zip(LENGTHS, (2.0, 0.5, 2.0, 0.5, 2.0, 2.0), strict=True))
    found = equal(LENGTHS, lambda n: costs[n], lambda _: 1.0)
    assert found is not None
    assert 512 < found < 1024


def test_operations_cross_where_their_closed_forms_do_whatever_was_timed() -> None:
    operations = Settings().operations
    found = crossing("self-attention-projected", 64, (64, 96, 1024), operations, lambda _: [1.0, 1.0])
    assert found.counted == pytest.approx(128)  # 4 n² d + 8 n d² = 16 n d²


def test_a_timed_crossing_has_an_interval_that_holds_the_truth() -> None:
    """Noise of 10 % a sample, eleven rounds: n = 4 d lies in the bootstrap's interval, which is less than an octave."""
    draw = random.Random(3)
    held = 0
    for _ in range(20):
        times: dict[tuple[str, int, int], list[float]] = {}
        for n in LENGTHS:
            for layer, cost in (("self-attention", 4 * n * n * 64), ("recurrent", 16 * n * 64 * 64)):
                times[layer, n, 64] = [cost * draw.lognormvariate(0, 0.1) for _ in range(11)]
        found = crossing("self-attention", 64, LENGTHS, Settings().operations, times.__getitem__)
        assert found.counted == pytest.approx(256)
        assert found.timed is not None
        assert found.timed.high < 2 * found.timed.low
        held += 256 in found.timed
    assert held >= 16  # of 20 at 95 %: fewer would happen once in four hundred times
