"""Footnote 4 taken literally: queries and keys of independent components with mean 0 and variance 1.

Their product q . k = sum q_i k_i is a sum of d_k independent terms, each with mean 0 and variance 1, so its variance is
d_k whatever the components' distribution; over sqrt(d_k) it is 1. What is measured is what the model's own scores
(:mod:`ablatable.nn.scores`) make of such vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import integrate
from torch import Tensor

from ablatable.analysis.intervals import (
    LEVEL,
    Interval,
    each_of,
    mean_interval,
    slope_interval,
    variance_degrees,
    variance_interval,
)
from ablatable.analysis.softmax import MEASURES
from ablatable.nn.attention import AttentionCore
from ablatable.nn.init import initialise
from ablatable.nn.masks import EVERYTHING
from ablatable.nn.scores import Additive, ProductScore, Score

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""d_k: 64 is the paper's, and Table 3 (A) reaches 512."""

Draw = Callable[[Generator, tuple[int, ...]], NDArray[np.floating]]
DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "uniform": lambda random, shape: random.uniform(-np.sqrt(3), np.sqrt(3), shape),
    "signs": lambda random, shape: random.choice(np.array([-1.0, 1.0]), shape),
}
"""Components with mean 0 and variance 1; of all distributions, signs have the lightest tails there are."""

SCORES: dict[str, Callable[[int, int], Score]] = {
    "none": lambda heads, key_size: ProductScore(1.0),
    "1/sqrt(d_k)": lambda heads, key_size: ProductScore(key_size**-0.5),
    "additive": Additive,
}
"""The dot product by its scale, and the additive score, which section 3.2.1 compares it with."""

_AT_ONCE = 1 << 21
"""Components drawn at a time, 16 MiB."""


@dataclass(frozen=True)
class ScoreVariance:
    """The variance of a score over independent pairs of query and key, with what the derivation says it is."""

    score: str
    distribution: str
    d_k: int
    derived: float
    variance: Interval
    mean: Interval
    holds: bool


@dataclass(frozen=True)
class Saturation:
    """Means over queries, each with keys of its own, of what softmax makes of a score (:mod:`analysis.softmax`)."""

    score: str
    d_k: int
    keys: int
    entropy: Interval
    effective: Interval
    largest: Interval
    gradient: Interval


@dataclass(frozen=True)
class Exponent:
    """The slope of ln variance against ln d_k; the derivation says 1 for the plain product and 0 for the scaled one."""

    score: str
    distribution: str
    derived: float
    slope: Interval
    holds: bool


@dataclass(frozen=True)
class Components:
    """The whole experiment. All intervals of variances hold at once with the confidence ``level``; so do slopes."""

    level: float
    pairs: int
    variances: list[ScoreVariance]
    exponents: list[Exponent]
    saturation: list[Saturation]


def measure(
    seed: int, widths: tuple[int, ...] = WIDTHS, pairs: int = 10_000, queries: int = 256, keys: int = 32
) -> Components:
    """Measure the variance of each score for each d_k over ``pairs``, and its softmax over ``keys``."""
    # The plain and the scaled product are one measurement and its multiple: its intervals count once.
    level = each_of(len(widths) * (len(DISTRIBUTIONS) + 1))
    samples = {(name, d_k): _samples(name, d_k, pairs, seed) for name in DISTRIBUTIONS for d_k in widths}
    return Components(
        LEVEL,
        pairs,
        [
            _variance(score, name, d_k, sample, level)
            for (name, d_k), of_scores in samples.items()
            for score, sample in of_scores.items()
        ],
        [
            _exponent(score, name, {d_k: samples[name, d_k][score] for d_k in widths}, each_of(len(DISTRIBUTIONS)))
            for score in ("none", "1/sqrt(d_k)")
            for name in DISTRIBUTIONS
        ],
        [_saturation(score, d_k, queries, keys, seed) for score in SCORES for d_k in widths],
    )


def derived_variance(score: str, d_k: int) -> float:
    """What the derivation says of components with mean 0 and variance 1 (additive: of normal ones).

    Additive: v . tanh(q + k) with v of variance 2 / (d_k + 1) (Glorot, d_k inputs and one output) and q_i + k_i of
    variance 2, so d_k times 2 / (d_k + 1) times E[tanh^2].
    """
    if score == "additive":
        return d_k * 2 / (d_k + 1) * _squared_tanh()
    return {"none": float(d_k), "1/sqrt(d_k)": 1.0}[score]


def _squared_tanh() -> float:
    """E[tanh(z)^2] for z ~ N(0, 2)."""

    def integrand(z: float) -> float:
        return float(np.tanh(z) ** 2 * np.exp(-(z**2) / 4) / np.sqrt(4 * np.pi))

    found = cast(tuple[float, float], cast(Any, integrate).quad(integrand, -30, 30))
    return found[0]


def _samples(distribution: str, d_k: int, pairs: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Each score of the same independent pairs; the additive one of normal components alone."""
    random = _random(seed, "pairs", distribution, d_k)
    scores = [name for name in SCORES if name != "additive" or distribution == "normal"]
    made: dict[str, list[Tensor]] = {name: [] for name in scores}
    at_once = max(1, _AT_ONCE // d_k)
    for first in range(0, pairs, at_once):
        count = min(at_once, pairs - first)
        q, k = (_vectors(random, distribution, 1, count, d_k) for _ in range(2))
        for name in scores:
            made[name].append(_core(name, count, d_k, seed + first).score(q, k).detach().flatten())
    return {name: torch.cat(parts).numpy() for name, parts in made.items()}


def _variance(score: str, distribution: str, d_k: int, sample: NDArray[np.float64], level: float) -> ScoreVariance:
    derived, variance = derived_variance(score, d_k), variance_interval(sample, level)
    return ScoreVariance(
        score, distribution, d_k, derived, variance, mean_interval(sample, level), holds=derived in variance
    )


def _exponent(score: str, distribution: str, samples: dict[int, NDArray[np.float64]], level: float) -> Exponent:
    logarithms = np.log([samples[d_k].var(ddof=1) for d_k in samples])
    errors = np.sqrt([2 / variance_degrees(sample) for sample in samples.values()])
    slope = slope_interval(np.log(np.array(list(samples), dtype=np.float64)), logarithms, errors, level)
    derived = 1.0 if score == "none" else 0.0
    return Exponent(score, distribution, derived, slope, holds=derived in slope)


def _saturation(score: str, d_k: int, queries: int, keys: int, seed: int) -> Saturation:
    """Queries are heads here, so that each has keys (and, of the additive score, a v) of its own."""
    random = _random(seed, "softmax", "normal", d_k)
    q, k = (_vectors(random, "normal", count, queries, d_k) for count in (1, keys))
    weights = _core(score, queries, d_k, seed).weights(q, k, EVERYTHING).flatten(0, 2)
    return Saturation(score, d_k, keys, **{name: mean_interval(of(weights).numpy()) for name, of in MEASURES.items()})


def _core(score: str, heads: int, d_k: int, seed: int) -> AttentionCore:
    core = AttentionCore(SCORES[score](heads, d_k)).double()
    initialise(core, seed)
    return core


def _vectors(random: Generator, distribution: str, rows: int, heads: int, d_k: int) -> Tensor:
    """(1, rows, heads, d_k), float64."""
    return torch.from_numpy(DISTRIBUTIONS[distribution](random, (1, rows, heads, d_k)))


def _random(seed: int, *what: str | int) -> Generator:
    return np.random.default_rng([seed, *("/".join(map(str, what))).encode()])
