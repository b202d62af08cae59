"""Is system B better than system A? Two paired tests over the same sentences, on corpus BLEU (13a) or chrF.

Koehn 2004 (paired bootstrap) and Riezler & Maxwell 2005 (approximate randomisation). A p-value is at least
1 / (samples + 1), and the seed is part of the result: equal seeds give equal results. What they tell is whether these
two systems would differ on other sentences of the kind, not whether two trainings would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ablatable.scoring.statistics import MEASURES, Floats, Measure, MeasureName

BOOTSTRAP_SAMPLES = 1000
RANDOMISATION_SAMPLES = 10_000
SEED = 12345
"""SacreBLEU's defaults."""

_CHUNK = 500
"""Samples held as float64 weights at a time: 500 x 3000 sentences are 12 MB."""

_TIE = 1e-9
"""Differences in a score closer than this are rounding."""

Test = Literal["paired bootstrap", "approximate randomisation"]


@dataclass(frozen=True)
class Comparison:
    """B against A on the same sentences.

    ``low`` and ``high`` bound the middle 95 % of the bootstrapped difference, B minus A (None for the
    randomisation test, which gives none). ``p_value`` is two-sided for the randomisation; the bootstrap's, which is
    sacreBLEU's, counts strays to one side only where the difference is clear, so it is about half of that.
    """

    test: Test
    measure: str
    score_a: float
    score_b: float
    p_value: float
    low: float | None
    high: float | None
    samples: int
    seed: int
    signature: str

    @property
    def difference(self) -> float:
        """Score of B minus score of A."""
        return self.score_b - self.score_a


def paired_bootstrap(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[str],
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = SEED,
    measure: MeasureName = "bleu",
) -> Comparison:
    """Draw sentences with replacement, the same for both systems, and score each draw.

    p is how often the absolute difference exceeds its own mean by the difference observed or more.

    Raises:
        InputError: a system's translations and the references do not pair.
    """
    how = MEASURES[measure]
    return bootstrap_counts(how, how.counts(a, references), how.counts(b, references), samples, seed)


def bootstrap_counts(
    measure: Measure, counts_a: Floats, counts_b: Floats, samples: int = BOOTSTRAP_SAMPLES, seed: int = SEED
) -> Comparison:
    """`paired_bootstrap` of systems whose sentences, (N, C) each, are counted already."""
    sentences = len(counts_a)
    drawn = np.random.default_rng(seed).choice(sentences, size=(samples, sentences), replace=True)
    weights = _Weights(samples, lambda rows: _how_often(drawn[rows], sentences))
    differences = measure.score(weights.sums(counts_b)) - measure.score(weights.sums(counts_a))
    strays = np.abs(differences)
    low, high = np.quantile(differences, (0.025, 0.975))
    score_a, score_b = _observed(measure, counts_a, counts_b)
    return Comparison(
        test="paired bootstrap",
        measure=measure.name,
        score_a=score_a,
        score_b=score_b,
        p_value=_p_value(strays - strays.mean(), abs(score_b - score_a)),
        low=float(low),
        high=float(high),
        samples=samples,
        seed=seed,
        signature=f"{measure.signature()}|bs:{samples}|seed:{seed}",
    )


def approximate_randomisation(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[str],
    samples: int = RANDOMISATION_SAMPLES,
    seed: int = SEED,
    measure: MeasureName = "bleu",
) -> Comparison:
    """Swap the systems' translations of random sentences and score both mixtures.

    p is how often the mixtures differ by as much as the systems do, or more.

    Raises:
        InputError: a system's translations and the references do not pair.
    """
    how = MEASURES[measure]
    return randomise_counts(how, how.counts(a, references), how.counts(b, references), samples, seed)


def randomise_counts(
    measure: Measure, counts_a: Floats, counts_b: Floats, samples: int = RANDOMISATION_SAMPLES, seed: int = SEED
) -> Comparison:
    """`approximate_randomisation` of systems whose sentences, (N, C) each, are counted already."""
    kept = np.random.default_rng(seed).integers(2, size=(samples, len(counts_a)), dtype=bool)
    weights = _Weights(samples, lambda rows: kept[rows].astype(np.float64))
    moved = weights.sums(counts_a - counts_b)
    mixed_a = counts_b.sum(axis=0) + moved
    mixed_b = counts_a.sum(axis=0) - moved
    score_a, score_b = _observed(measure, counts_a, counts_b)
    return Comparison(
        test="approximate randomisation",
        measure=measure.name,
        score_a=score_a,
        score_b=score_b,
        p_value=_p_value(np.abs(measure.score(mixed_a) - measure.score(mixed_b)), abs(score_b - score_a)),
        low=None,
        high=None,
        samples=samples,
        seed=seed,
        signature=f"{measure.signature()}|ar:{samples}|seed:{seed}",
    )


@dataclass(frozen=True)
class _Weights:
    """How often each sample counts each sentence, (samples, N), made a few rows at a time."""

    samples: int
    rows: Callable[[slice], Floats]

    def sums(self, counts: Floats) -> Floats:
        """Return (samples, C): the counts of (N, C) summed over each sample."""
        chunks = [slice(first, first + _CHUNK) for first in range(0, self.samples, _CHUNK)]
        return np.concatenate([self.rows(chunk) @ counts for chunk in chunks])


def _how_often(drawn: NDArray[np.int64], sentences: int) -> Floats:
    return np.stack([np.bincount(row, minlength=sentences) for row in drawn]).astype(np.float64)


def _observed(measure: Measure, counts_a: Floats, counts_b: Floats) -> tuple[float, float]:
    return float(measure.score(counts_a.sum(axis=0))), float(measure.score(counts_b.sum(axis=0)))


def _p_value(statistics: Floats, observed: float) -> float:
    """Share of samples at least as far out as what was observed, the observation itself counted as one.

    SacreBLEU has "farther": a system compared with itself would get the smallest p there is instead of 1.
    """
    return (int((statistics >= observed - _TIE).sum()) + 1) / (len(statistics) + 1)
