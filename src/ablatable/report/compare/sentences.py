"""The sentences whose translations changed most, by a score of each sentence alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ablatable.report.compare.model import Sentence
from ablatable.report.compare.text import Text

if TYPE_CHECKING:
    from ablatable.scoring.statistics import MeasureName


def most_changed(text: Text, count: int, by: MeasureName) -> list[Sentence]:
    """So many sentences with the largest spread of the score over the sides; of equal ones the earlier come first.

    Sentences that all sides score alike are never among them.
    """
    scores = _scores(text, by)
    found = [
        Sentence(i + 1, text.sources[i], text.references[i], tuple(side[i] for side in text.hypotheses), own)
        for i, own in enumerate(zip(*scores, strict=True))
    ]
    changed = [sentence for sentence in found if sentence.spread > 0]
    return sorted(changed, key=lambda sentence: (-round(sentence.spread, 9), sentence.number))[:count]


def _scores(text: Text, by: MeasureName) -> list[list[float]]:
    """For each side the score of every sentence; chrF of a sentence is that of its counts."""
    from ablatable.scoring.bleu import sentence_bleu
    from ablatable.scoring.statistics import chrf_of

    if by == "chrf":
        return [[float(score) for score in chrf_of(counts)] for counts in text.counts["chrf"]]
    return [
        [sentence_bleu(hypothesis, reference) for hypothesis, reference in zip(lines, text.references, strict=True)]
        for lines in text.hypotheses
    ]
