from __future__ import annotations

import pytest

from ablatable.report.agreement import agreement, paper_noise
from ablatable.report.statistics import Difference

CLEAR = Difference(-1.0, -1.5, -0.5, 0.01, "paired")
NOISE = Difference(-1.0, -2.5, 0.5, 0.2, "paired")
ALONE = Difference(-1.0)


@pytest.mark.parametrize(
    ("ours", "paper_gap", "text", "why"),
    [
        (CLEAR, -0.9, "same", None),
        (CLEAR, +0.9, "opposite", None),
        (NOISE, -0.9, "~", "ours"),
        (ALONE, -0.9, "(same)", None),
        (ALONE, +0.9, "(opposite)", None),
        (Difference(0.0), -0.9, "~", "ours"),
        (CLEAR, 25.5 - 25.8, "~", "paper"),  # h=4, h=16, N=8, P_drop=0.2: inside run-to-run spread
        (CLEAR, 0.0, "~", "paper"),
        (CLEAR, 25.4 - 25.8, "same", None),
    ],
)
def test_direction(ours: Difference, paper_gap: float, text: str, why: str | None) -> None:
    found = agreement(ours, paper_gap, paper_noise("bleu", 1))
    assert (found.text, found.why) == (text, why)


def test_noise_of_other_measures_is_one_unit_of_the_last_digit() -> None:
    assert paper_noise("bleu_paper", 1) == 0.3
    assert paper_noise("ppl", 2) == pytest.approx(0.01)
    assert agreement(CLEAR, 4.91 - 4.92, paper_noise("ppl", 2)).why == "paper"
    assert agreement(CLEAR, 4.88 - 4.92, paper_noise("ppl", 2)).text == "same"
