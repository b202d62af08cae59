"""Every score of one set of translations."""

from __future__ import annotations

from collections.abc import Sequence

from ablatable.record.schema import Metric
from ablatable.scoring.bleu import bleu, bleu_paper
from ablatable.scoring.chrf import chrf


def score(hypotheses: Sequence[str], references: Sequence[str], target_language: str) -> dict[str, Metric]:
    """Score detokenised, free-running translations against untouched references, sentence for sentence.

    Returns:
        ``bleu``, ``bleu_paper`` and ``chrf``, each with its unit and signature.

    Raises:
        InputError: hypotheses and references do not pair.
    """
    return {
        "bleu": bleu(hypotheses, references),
        "bleu_paper": bleu_paper(hypotheses, references, target_language),
        "chrf": chrf(hypotheses, references),
    }
