"""T5's bias: one trained number for every head and bucket of offsets."""

from __future__ import annotations

import math
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.nn.relative.base import Relative, key_offsets


def bucket_starts(buckets: int, distance: int) -> list[int]:
    """The least distance of each bucket after the first, for one direction.

    The first half of the buckets holds one distance each; bucket e + k of the rest begins at the least n with
    e * (distance / e)^(k / (buckets - e)) <= n, e = buckets // 2. The last bucket has no end.
    """
    exact = buckets // 2
    wider = buckets - exact
    grown = (exact * (distance / exact) ** (k / wider) for k in range(wider))
    # A start that should be whole may come out a rounding above it.
    return [*range(1, exact), *(math.ceil(start - 1e-9 * start) for start in grown)]


class BucketBias(Relative):
    """Scores gain a trained number for the head and the bucket the offset falls into; the bias is not scaled.

    Source: Raffel et al. 2020, section 2.1, and its authors' published code. One table (buckets, heads) per stack,
    shared by its layers. Where queries see both sides, later keys have the upper half of the buckets (its first row,
    distance 0, is never used: published as such); under a causal mask all buckets are for the past. T5 does not divide
    scores by sqrt(d_k): here that is ``model.score_scale``, an axis of its own.
    """

    _starts: Tensor

    @classmethod
    def of(cls, model: Model, causal: bool) -> Self:
        """As ``model`` asks for it."""
        return cls(model.heads, model.position_buckets, model.position_distance, causal, model.d_model**-0.5)

    def __init__(self, heads: int, buckets: int, distance: int, causal: bool, initial_std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(buckets, heads))
        self.initial_std = initial_std
        self.later = None if causal else buckets // 2
        starts = bucket_starts(buckets if causal else buckets // 2, distance)
        self.register_buffer("_starts", torch.tensor(starts), persistent=False)

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, 1/d_model), as in the common PyTorch code of T5."""
        return torch.empty(shape).normal_(0.0, self.initial_std, generator=generator)

    def buckets(self, offsets_TS: Tensor) -> Tensor:
        """Rows of the table (T, S) for keys that lie so far after their queries."""
        if self.later is None:
            return torch.bucketize(-offsets_TS, self._starts, right=True)
        return torch.bucketize(offsets_TS.abs(), self._starts, right=True) + self.later * (offsets_TS > 0)

    def score_bias(self, q_BTHK: Tensor, keys: int, offset: int) -> Tensor:
        """The numbers of all heads, (H, T, S)."""
        offsets_TS = key_offsets(q_BTHK.shape[1], keys, offset, q_BTHK.device)
        return F.embedding(self.buckets(offsets_TS), self.weight).permute(2, 0, 1)
