"""What relative kinds do to a score, by offset: RoPE's decay, biases of ALiBi and T5, and the vectors of Shaw et al.

Offsets are key minus query. Everything is asked of the modules the model uses (:mod:`ablatable.nn.relative`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from ablatable.analysis.intervals import LEVEL, Interval, each_of, mean_interval
from ablatable.config.model import Model
from ablatable.nn.relative.base import Relative
from ablatable.nn.relative.bucketed import BucketBias
from ablatable.nn.relative.rotary import Rotary
from ablatable.nn.relative.shaw import RelativeVectors


@dataclass(frozen=True)
class Decay:
    """The score of a query with a key that is the same vector before both are rotated, over its length squared.

    Attributes:
        d_k: width of a head.
        base: the longest wave is 2 pi times this.
        offsets: from 0.
        measured: mean over random vectors; intervals hold at once with the confidence ``level``.
        derived: (2 / d_k) sum cos(offset * frequency), the mean for components that are independent and alike.
        bound: the mean of |S_j| over j, S_j the sum of the first j rotations, over its value at offset 0. Times a
            number that the vectors decide, it bounds any score, not only that of a vector with itself (Su et al. 2021,
            section 3.4.3).
        level: of the intervals.
        holds: whether every derived value lies in its interval.
    """

    d_k: int
    base: float
    offsets: list[int]
    measured: list[Interval]
    derived: list[float]
    bound: list[float]
    level: float
    holds: bool


@dataclass(frozen=True)
class Biases:
    """What each head of a stack adds to a score, by offset; a causal stack has none after the query."""

    kind: str
    stack: str
    offsets: list[int]
    heads: list[list[float]]


@dataclass(frozen=True)
class Buckets:
    """T5's rows by offset, before any training."""

    stack: str
    buckets: int
    offsets: list[int]
    rows: list[int]


@dataclass(frozen=True)
class Vectors:
    """Shaw's vectors in one layer: their lengths by offset, and cosines between the key vectors of any two offsets."""

    stack: str
    layer: int
    offsets: list[int]
    key_lengths: list[float]
    value_lengths: list[float]
    key_cosines: list[list[float]]


def decay(model: Model, farthest: int, seed: int, vectors: int = 256) -> Decay:
    """RoPE over offsets 0, ..., ``farthest``."""
    rotary, width = Rotary.of(model, causal=False), model.key_size
    x_1NK = torch.randn(1, vectors, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    rotated_PNK = rotary.rotate(x_1NK[None].expand(1, farthest + 1, vectors, width), 0)[0]
    ratios_PN = (rotated_PNK * x_1NK).sum(-1) / x_1NK.square().sum(-1)
    # At offset 0 the ratio is 1 whatever the vector: no interval.
    level = each_of(farthest)
    measured = [Interval(1.0, 1.0, 1.0), *(mean_interval(row.numpy(), level) for row in ratios_PN[1:])]
    frequencies = model.position_base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
    phases = torch.arange(farthest + 1, dtype=torch.float64)[:, None] * frequencies
    derived = phases.cos().mean(-1)
    bound = torch.polar(torch.ones_like(phases), phases).cumsum(-1).abs().mean(-1)
    holds = all(float(one) in interval for one, interval in zip(derived[1:], measured[1:], strict=True))
    return Decay(
        width,
        model.position_base,
        list(range(farthest + 1)),
        measured,
        [float(one) for one in derived],
        [float(one) for one in bound / bound[0]],
        LEVEL,
        holds,
    )


@torch.no_grad()
def biases(kind: str, relative: Relative, stack: str, heads: int, farthest: int, causal: bool) -> Biases:
    """What ALiBi or T5 adds to scores, for a query that has ``farthest`` keys before it and after it."""
    query = torch.zeros(1, 1, heads, 1)
    added = cast(Tensor, relative.score_bias(query, 2 * farthest + 1, farthest))[:, 0]
    offsets = list(range(-farthest, farthest + 1))
    end = farthest + 1 if causal else len(offsets)
    return Biases(kind, stack, offsets[:end], cast(Any, added[:, :end]).tolist())


def buckets(model: Model, stack: str, farthest: int, causal: bool) -> Buckets:
    """Which row of T5's table an offset has."""
    offsets = torch.arange(-farthest, 1 if causal else farthest + 1)
    rows = BucketBias.of(model, causal).buckets(offsets[None])[0]
    return Buckets(stack, model.position_buckets, cast(Any, offsets).tolist(), cast(Any, rows).tolist())


@torch.no_grad()
def vectors(relative: RelativeVectors, stack: str, layer: int, causal: bool) -> Vectors:
    """Shaw's tables of one layer; rows a causal mask never lets be used are left out."""
    used = relative.clip + 1 if causal else 2 * relative.clip + 1
    keys, values = relative.keys[:used].double(), relative.values[:used].double()
    unit = torch.nn.functional.normalize(keys, dim=-1)
    return Vectors(
        stack,
        layer,
        list(range(-relative.clip, used - relative.clip)),
        cast(Any, keys.norm(dim=-1)).tolist(),
        cast(Any, values.norm(dim=-1)).tolist(),
        cast(Any, unit @ unit.T).tolist(),
    )
