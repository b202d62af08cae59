"""Relative position representations: trained vectors of clipped offsets on keys and values."""

from __future__ import annotations

from typing import ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.nn.initial import glorot_uniform
from ablatable.nn.relative.base import Relative, key_offsets


class RelativeVectors(Relative):
    """A key gains the vector a^K, and a value the vector a^V, of its offset from the query, clipped to [-k, k].

    Source: Shaw et al. 2018, equations 3 to 5. Two tables of 2k + 1 rows in each layer, shared by its heads and
    sentences; the looked-up (T, S, width) exists once, not per sentence. Under a causal mask the k rows of later keys
    are never used; they are there as published.
    """

    shared: ClassVar[bool] = False

    @classmethod
    def of(cls, model: Model, causal: bool) -> Self:
        """As ``model`` asks for it."""
        return cls(model.key_size, model.value_size, model.position_clip)

    def __init__(self, key_size: int, value_size: int, clip: int) -> None:
        super().__init__()
        self.clip = clip
        self.keys = nn.Parameter(torch.empty(2 * clip + 1, key_size))
        self.values = nn.Parameter(torch.empty(2 * clip + 1, value_size))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Glorot uniform over (rows, width), as the first public code drew every variable."""
        return glorot_uniform(shape, generator)

    def rows(self, queries: int, keys: int, offset: int) -> Tensor:
        """Which row query t and key s use, (T, S): clip(s - t, -k, k) + k."""
        offsets_TS = key_offsets(queries, keys, offset, self.keys.device)
        return offsets_TS.clamp_(-self.clip, self.clip).add_(self.clip)

    def score_bias(self, q_BTHK: Tensor, keys: int, offset: int) -> Tensor:
        """The products q . a^K, (B, H, T, S)."""
        vectors_TSK = F.embedding(self.rows(q_BTHK.shape[1], keys, offset), self.keys)
        return torch.einsum("bthk,tsk->bhts", q_BTHK, vectors_TSK)

    def context_bias(self, weights_BHTS: Tensor, offset: int) -> Tensor:
        """The mean of a^V under the attention weights, (B, T, H, V)."""
        queries, keys = weights_BHTS.shape[-2:]
        vectors_TSV = F.embedding(self.rows(queries, keys, offset), self.values)
        return torch.einsum("bhts,tsv->bthv", weights_BHTS, vectors_TSV)
