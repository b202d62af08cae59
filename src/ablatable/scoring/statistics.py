"""What a score needs to know of each sentence, and the score of any sum of it.

BLEU's ten counts: tokens of the hypothesis and of the reference, then matched and possible n-grams for n = 1..4.
chrF's eighteen: for each n = 1..6 the character n-grams of the hypothesis, of the reference, and of both. The score of
a corpus is a function of their sums, so resampling a thousand corpora is a matrix product.

Shapes: N sentences, C counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ablatable.scoring.bleu import bleu_signature, sacrebleu_13a
from ablatable.scoring.chrf import chrf_signature
from ablatable.scoring.pairs import check_pairs

ORDER = 4
"""The longest n-gram of words that BLEU counts."""

CHARACTER_ORDER = 6
"""The longest n-gram of characters that chrF counts."""

_BETA = 2
"""How often recall counts where precision counts once, in chrF."""

Floats = NDArray[np.float64]


def sentence_counts(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Return (N, 10) counts of the 13a tokens of each pair; whole numbers held as float64.

    Raises:
        InputError: hypotheses and references do not pair.
    """
    check_pairs(hypotheses, references)
    metric = sacrebleu_13a()
    rows: list[list[int]] = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        one = metric.corpus_score([hypothesis], [[reference]])
        rows.append([one.sys_len, one.ref_len, *one.counts, *one.totals])
    return np.array(rows, dtype=np.float64)


def bleu_of(counts: Floats) -> Floats:
    """BLEU, 0 to 100, of summed counts (..., 10), smoothed exponentially as sacreBLEU does by default."""
    hypothesis, reference = counts[..., 0], counts[..., 1]
    matched, possible = counts[..., 2 : 2 + ORDER], counts[..., 2 + ORDER :]
    missed = matched == 0
    smoothed = 2.0 ** -np.cumsum(missed, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = 100.0 * np.where(missed, smoothed, matched) / possible
        brevity = np.where(hypothesis < reference, np.exp(1.0 - reference / hypothesis), 1.0)
        score = brevity * np.exp(np.log(precision).mean(axis=-1))
    defined = (possible > 0).all(axis=-1) & (matched > 0).any(axis=-1)
    return np.where(defined, score, 0.0)


def character_counts(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Return (N, 18) counts of the character n-grams of each pair, white space left out.

    N-grams of an order that the reference is too short for do not count, as in sacreBLEU.

    Raises:
        InputError: hypotheses and references do not pair.
    """
    check_pairs(hypotheses, references)
    rows: list[list[int]] = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        said, right = "".join(hypothesis.split()), "".join(reference.split())
        row: list[int] = []
        for order in range(1, CHARACTER_ORDER + 1):
            ours, theirs = _ngrams(said, order), _ngrams(right, order)
            row += [ours.total() if theirs else 0, theirs.total(), (ours & theirs).total()]
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def _ngrams(text: str, order: int) -> Counter[str]:
    return Counter(text[start : start + order] for start in range(len(text) - order + 1))


def chrf_of(counts: Floats) -> Floats:
    """chrF, 0 to 100, of summed counts (..., 18): precision and recall averaged over the orders both sides have."""
    hypothesis, reference, matched = counts[..., 0::3], counts[..., 1::3], counts[..., 2::3]
    defined = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(defined.sum(axis=-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(defined, matched / hypothesis, 0.0).sum(axis=-1) / orders
        recall = np.where(defined, matched / reference, 0.0).sum(axis=-1) / orders
        score = 100.0 * (1 + _BETA**2) * precision * recall / (_BETA**2 * precision + recall)
    return np.where(precision + recall > 0, score, 0.0)


@dataclass(frozen=True)
class Measure:
    """A corpus score by way of its counts: ``score(counts(hypotheses, references).sum(axis=0))``."""

    name: str
    counts: Callable[[Sequence[str], Sequence[str]], Floats]
    score: Callable[[Floats], Floats]
    signature: Callable[[], str]


MeasureName = Literal["bleu", "chrf"]

MEASURES: dict[MeasureName, Measure] = {
    "bleu": Measure("BLEU", sentence_counts, bleu_of, bleu_signature),
    "chrf": Measure("chrF", character_counts, chrf_of, chrf_signature),
}
"""The scores that can be resampled, by the names that records have them under."""
