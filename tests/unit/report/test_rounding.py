from __future__ import annotations

import math

import pytest

from ablatable.report.rounding import MINUS, fixed, setting, signed


@pytest.mark.parametrize(("value", "text"), [(27.25, "27.2"), (27.35, "27.4"), (26.0, "26.0"), (-0.04, "0.0")])
def test_swp_14_one_rounding_rule(value: float, text: str) -> None:
    """SWP-14: to one decimal 27.25 is 27.2 and 27.35 is 27.4 (Python's format)."""
    assert fixed(value, 1) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.94, "+0.9"), (-0.94, f"{MINUS}0.9"), (0.04, "0.0"), (-0.04, "0.0"), (0.0, "0.0")],
)
def test_signs(value: float, text: str) -> None:
    assert signed(value, 1) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (100_000, "100K"),
        (300_000, "300K"),
        (2500, "2500"),
        (True, "yes"),
        (False, "no"),
        (0.0, "0.0"),
        ("none", "none"),
        (("valid", "test"), "valid, test"),
    ],
)
def test_settings(value: object, text: str) -> None:
    assert setting(value) == text


def test_a_diverged_perplexity_does_not_fill_the_page() -> None:
    assert fixed(math.exp(700), 2) == "1.01e+304"
    assert fixed(9_999_999.5, 1) == "9999999.5"
