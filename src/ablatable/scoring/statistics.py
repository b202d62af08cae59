"""What BLEU needs to know of each sentence, and BLEU of any sum of it.

A sentence's ten counts: tokens of the hypothesis and of the reference, then matched and possible n-grams for
n = 1..4. BLEU of a corpus is a function of their sums, so resampling a thousand corpora is a matrix product.

Shapes: N sentences, 10 counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ablatable.scoring.bleu import sacrebleu_13a
from ablatable.scoring.pairs import check_pairs

ORDER = 4

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
