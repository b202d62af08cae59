"""Learning rates by update count."""

import itertools
import math
from dataclasses import replace

import pytest

from ablatable.config.training import Training
from ablatable.config.tree import leaves
from ablatable.training.schedule import KINDS, learning_rate, peak_setting

OTHERS = [kind for kind in KINDS if kind != "paper"]


@pytest.mark.parametrize(
    ("update", "d_model", "warmup", "factor", "expected"),
    [
        (1, 512, 4000, 1.0, 1.746928e-7),
        (2, 512, 4000, 1.0, 3.493856e-7),
        (3, 512, 4000, 1.0, 5.240784e-7),
        (2000, 512, 4000, 1.0, 3.493856e-4),
        (4000, 512, 4000, 1.0, 6.987712e-4),
        (8000, 512, 4000, 1.0, 4.941059e-4),
        (8001, 512, 4000, 1.0, 4.940750e-4),
        (100_000, 512, 4000, 1.0, 1.397542e-4),
        (4000, 256, 4000, 1.0, 9.882118e-4),
        (4000, 512, 4000, 2.0, 1.397542e-3),
        (16_000, 512, 16_000, 1.0, 3.493856e-4),
    ],
)
def test_opt_01_opt_02_trn_03_values(update: int, d_model: int, warmup: int, factor: float, expected: float) -> None:
    train = Training(warmup=warmup, learning_rate_factor=factor)
    assert learning_rate(update, train, d_model) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "update", "expected"),
    [
        ("inverse-sqrt", 400, 1e-3),
        ("inverse-sqrt", 1600, 5e-4),
        ("inverse-sqrt", 10_000, 2e-4),
        ("cosine", 400, 1e-3),
        ("cosine", 5200, 5.5e-4),
        ("cosine", 2800, 1e-4 + 9e-4 * (1 + math.sqrt(0.5)) / 2),
        ("cosine", 10_000, 1e-4),
        ("constant", 400, 1e-3),
        ("constant", 401, 1e-3),
        ("constant", 10_000, 1e-3),
        ("inverse-sqrt", 1, 2.5e-6),
        ("cosine", 1, 2.5e-6),
        ("constant", 100, 2.5e-4),
    ],
)
def test_values_of_the_others(kind: str, update: int, expected: float) -> None:
    train = Training(schedule=kind, learning_rate=1e-3, warmup=400, updates=10_000, final_rate=0.1)
    assert learning_rate(update, train, 512) == pytest.approx(expected, rel=1e-9)


def test_the_kinds_are_those_the_axis_names() -> None:
    axis = leaves()["train.schedule"].axis
    assert axis is not None
    assert set(KINDS) == set(axis.choices)


@pytest.mark.parametrize("kind", OTHERS)
def test_warm_up_is_linear_and_the_peak_is_at_its_end(kind: str) -> None:
    """OPT-02: update 1 has the first rate above 0, and none is used twice on the way."""
    train = Training(schedule=kind, learning_rate=2e-3, warmup=50, updates=200)
    rates = [learning_rate(update, train, 512) for update in range(1, 201)]
    assert rates[:50] == pytest.approx([2e-3 * update / 50 for update in range(1, 51)])
    assert max(rates) == rates[49] == pytest.approx(2e-3)
    assert all(later <= earlier for earlier, later in itertools.pairwise(rates[49:]))
    assert min(rates) > 0


@pytest.mark.parametrize("kind", OTHERS)
def test_the_peak_is_a_setting_and_not_a_matter_of_the_width(kind: str) -> None:
    train = Training(schedule=kind, learning_rate=2e-3, warmup=50, updates=200)
    assert learning_rate(120, train, 512) == learning_rate(120, train, 64)


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("d_model", [512, 64])
def test_a_peak_that_is_not_said_is_the_papers(kind: str, d_model: int) -> None:
    train, paper = Training(schedule=kind, warmup=50, updates=200), Training(warmup=50, updates=200)
    for update in (1, 20, 50):
        assert learning_rate(update, train, d_model) == pytest.approx(learning_rate(update, paper, d_model), rel=1e-12)


def test_a_cosine_may_end_at_nothing() -> None:
    train = Training(schedule="cosine", warmup=10, updates=100, final_rate=0.0)
    assert learning_rate(100, train, 512) == 0.0
    assert learning_rate(99, train, 512) > 0.0


def test_inverse_sqrt_at_the_papers_peak_is_the_paper() -> None:
    paper = Training()
    same = Training(schedule="inverse-sqrt", learning_rate=512**-0.5 * 4000**-0.5)
    for update in (1, 2000, 4000, 8000, 100_000):
        assert learning_rate(update, same, 512) == pytest.approx(learning_rate(update, paper, 512), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_no_update_zero(kind: str) -> None:
    with pytest.raises(ValueError, match="count from 1"):
        learning_rate(0, Training(schedule=kind), 512)


@pytest.mark.parametrize("kind", KINDS)
def test_a_diverged_run_is_told_the_setting_that_lowers_its_rates(kind: str) -> None:
    plain = Training(schedule=kind)
    low, high = (replace(plain, **{peak_setting(plain): rate}) for rate in (0.1, 0.2))
    assert learning_rate(7, high, 512) == pytest.approx(2 * learning_rate(7, low, 512))
