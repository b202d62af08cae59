"""Is system B better than system A? Two paired tests over the same sentences, both on corpus BLEU (13a).

Koehn 2004 (paired bootstrap) and Riezler & Maxwell 2005 (approximate randomisation). A p-value is at least
1 / (samples + 1), and the seed is part of the result: equal seeds give equal results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ablatable.scoring.bleu import bleu_signature
from ablatable.scoring.statistics import Floats, bleu_of, sentence_counts

_CHUNK = 500
"""Samples held as float64 weights at a time: 500 x 3000 sentences are 12 MB."""

_TIE = 1e-9
"""Differences in BLEU closer than this are rounding."""


@dataclass(frozen=True)
class Comparison:
    """B against A on the same sentences.

    ``low`` and ``high`` bound the middle 95 % of the bootstrapped difference, B minus A (None for the
    randomisation test, which gives none). ``p_value`` is two-sided.
    """

    test: Literal["paired bootstrap", "approximate randomisation"]
    bleu_a: float
    bleu_b: float
    p_value: float
    low: float | None
    high: float | None
    samples: int
    seed: int
    signature: str

    @property
    def difference(self) -> float:
        """BLEU of B minus BLEU of A."""
        return self.bleu_b - self.bleu_a


def paired_bootstrap(
    a: Sequence[str], b: Sequence[str], references: Sequence[str], samples: int = 1000, seed: int = 12345
) -> Comparison:
    """Draw sentences with replacement, the same for both systems, and score each draw.

    p is how often the absolute difference exceeds its own mean by the difference observed or more.

    Raises:
        InputError: a system's translations and the references do not pair.
    """
    counts_a, counts_b = sentence_counts(a, references), sentence_counts(b, references)
    sentences = len(references)
    drawn = np.random.default_rng(seed).choice(sentences, size=(samples, sentences), replace=True)
    weights = _Weights(samples, lambda rows: _how_often(drawn[rows], sentences))
    differences = bleu_of(weights.sums(counts_b)) - bleu_of(weights.sums(counts_a))
    strays = np.abs(differences)
    low, high = np.quantile(differences, (0.025, 0.975))
    bleu_a, bleu_b = _observed(counts_a, counts_b)
    return Comparison(
        test="paired bootstrap",
        bleu_a=bleu_a,
        bleu_b=bleu_b,
        p_value=_p_value(strays - strays.mean(), abs(bleu_b - bleu_a)),
        low=float(low),
        high=float(high),
        samples=samples,
        seed=seed,
        signature=f"{bleu_signature()}|bs:{samples}|seed:{seed}",
    )


def approximate_randomisation(
    a: Sequence[str], b: Sequence[str], references: Sequence[str], samples: int = 10_000, seed: int = 12345
) -> Comparison:
    """Swap the systems' translations of random sentences and score both mixtures.

    p is how often the mixtures differ by as much as the systems do, or more.

    Raises:
        InputError: a system's translations and the references do not pair.
    """
    counts_a, counts_b = sentence_counts(a, references), sentence_counts(b, references)
    kept = np.random.default_rng(seed).integers(2, size=(samples, len(references)), dtype=bool)
    weights = _Weights(samples, lambda rows: kept[rows].astype(np.float64))
    moved = weights.sums(counts_a - counts_b)
    mixed_a = counts_b.sum(axis=0) + moved
    mixed_b = counts_a.sum(axis=0) - moved
    bleu_a, bleu_b = _observed(counts_a, counts_b)
    return Comparison(
        test="approximate randomisation",
        bleu_a=bleu_a,
        bleu_b=bleu_b,
        p_value=_p_value(np.abs(bleu_of(mixed_a) - bleu_of(mixed_b)), abs(bleu_b - bleu_a)),
        low=None,
        high=None,
        samples=samples,
        seed=seed,
        signature=f"{bleu_signature()}|ar:{samples}|seed:{seed}",
    )


@dataclass(frozen=True)
class _Weights:
    """How often each sample counts each sentence, (samples, N), made a few rows at a time."""

    samples: int
    rows: Callable[[slice], Floats]

    def sums(self, counts: Floats) -> Floats:
        """Return (samples, 10): the counts of (N, 10) summed over each sample."""
        chunks = [slice(first, first + _CHUNK) for first in range(0, self.samples, _CHUNK)]
        return np.concatenate([self.rows(chunk) @ counts for chunk in chunks])


def _how_often(drawn: NDArray[np.int64], sentences: int) -> Floats:
    return np.stack([np.bincount(row, minlength=sentences) for row in drawn]).astype(np.float64)


def _observed(counts_a: Floats, counts_b: Floats) -> tuple[float, float]:
    return float(bleu_of(counts_a.sum(axis=0))), float(bleu_of(counts_b.sum(axis=0)))


def _p_value(statistics: Floats, observed: float) -> float:
    """Share of samples at least as far out as what was observed, the observation itself counted as one.

    SacreBLEU has "farther": a system compared with itself would get the smallest p there is instead of 1.
    """
    return (int((statistics >= observed - _TIE).sum()) + 1) / (len(statistics) + 1)
