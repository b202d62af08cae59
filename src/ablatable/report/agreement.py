"""Does our difference to the baseline point where the paper's does? Only said where both rise above noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ablatable.report.statistics import Difference

PAPER_BLEU_SPREAD = 0.3
"""BLEU by which two runs of one model may differ, as replications found; a gap up to it is none."""

_SLACK = 1e-9  # 25.8 - 25.5 is a little more than 0.3 in binary


@dataclass(frozen=True)
class Agreement:
    """``noise``: no direction can be told, ``why`` says on whose side. ``tested``: not from single runs."""

    verdict: Literal["same", "opposite", "noise"]
    why: Literal["paper", "ours"] | None = None
    tested: bool = True

    @property
    def text(self) -> str:
        """``same``, ``opposite`` or ``~``; in brackets when ours rests on single runs."""
        if self.verdict == "noise":
            return "~"
        return self.verdict if self.tested else f"({self.verdict})"


def paper_noise(metric: str, digits: int) -> float:
    """The largest paper gap that proves nothing: the spread of BLEU, else one unit of the last digit."""
    return PAPER_BLEU_SPREAD if metric.startswith("bleu") else 10.0**-digits


def agreement(ours: Difference, paper_gap: float, noise: float) -> Agreement:
    """Compare the direction of our difference with the paper's printed one."""
    if abs(paper_gap) <= noise + _SLACK:
        return Agreement("noise", "paper")
    if ours.is_noise or ours.sign == 0:
        return Agreement("noise", "ours")
    same = ours.sign == (1 if paper_gap > 0 else -1)
    return Agreement("same" if same else "opposite", tested=ours.is_noise is not None)
