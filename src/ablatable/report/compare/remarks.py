"""What stands below the tests: which they are, and what they do not say."""

from __future__ import annotations

from collections.abc import Sequence

from ablatable.report.compare.model import PairedTest
from ablatable.report.compare.side import Side
from ablatable.report.compare.text import representatives


def test_notes(sides: Sequence[Side], tests: Sequence[PairedTest], samples: tuple[int, int], seed: int) -> list[str]:
    """Sentences for the tests there are; ``samples`` are those of the bootstrap and of the randomisation."""
    notes: list[str] = []
    if any(line.over == "seeds" for line in tests):
        notes.append(
            "Over seeds: Student's t, paired by seed where two or more are common, Welch's otherwise, with 95 % "
            "intervals. It tells whether the settings differ, training anew included."
        )
    if any(line.over == "sentences" for line in tests):
        notes += [
            f"Over sentences: paired bootstrap (Koehn 2004; {samples[0]:,} samples, the interval is their middle 95 %) "
            f"and approximate randomisation (Riezler and Maxwell 2005; {samples[1]:,} samples), seed {seed}"
            f"{_chosen(sides)}. The randomisation's p is two-sided; the bootstrap's, as sacreBLEU defines it, is in "
            "effect one-sided and about half of it: for a claim, take the randomisation or the interval.",
            "A test over sentences tells whether these trained models differ on other sentences of the kind, not "
            "whether the settings would after another training: that takes seeds.",
            "NLL is not tested over sentences: no run keeps its NLL sentence by sentence.",
        ]
    if any(line.corrected is not None for line in tests):
        notes.append(
            f"p (Holm) is corrected for the comparisons with {sides[0].letter}, each metric and test by itself."
        )
    return notes


def _chosen(sides: Sequence[Side]) -> str:
    """Which run stands for a side that has several."""
    if all(len(side.runs) == 1 for side in sides):
        return ""
    chosen = zip(sides, representatives(sides), strict=True)
    return "; " + ", ".join(f"{side.letter} is its seed {run.record.seed}" for side, run in chosen)
