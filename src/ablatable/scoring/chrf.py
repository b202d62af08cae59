"""Corpus chrF (Popovic 2015), through sacreBLEU: character 6-grams, beta 2, no words."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics.chrf import CHRF

from ablatable.record.schema import Metric
from ablatable.scoring.pairs import check_pairs

UNIT = "chrF"


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Metric:
    """Score detokenised text from 0 to 100.

    Raises:
        InputError: hypotheses and references do not pair.
    """
    check_pairs(hypotheses, references)
    metric = CHRF()
    value = metric.corpus_score(hypotheses, [references]).score
    return Metric(value, UNIT, str(metric.get_signature()))


def chrf_signature() -> str:
    """Return the signature of ``chrf``; sacreBLEU tells it only once it has scored something."""
    return str(chrf([""], [""]).signature)
