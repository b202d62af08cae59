"""What the search needs of a model: one position at a time over a cache. Tests drive it with tables instead.

Shapes: B sentences, S source positions, K beams, D features, V vocabulary.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from torch import Tensor


class SearchState(Protocol):
    """The cache of one batch, changed in place. What the source alone decides is held once per sentence."""

    @property
    def max_length(self) -> int:
        """Most positions that can be decoded: as many as asked for, or fewer where the model has fewer."""
        ...

    def widen(self, beams: int) -> object:
        """Copy the one hypothesis of every sentence to ``beams`` equal ones."""
        ...

    def reorder(self, parents: Tensor, /) -> object:
        """Let hypothesis (b, k) continue ``parents[b, k]`` of the same sentence; (B,K) int64."""
        ...

    def select(self, sentences: Tensor, /) -> object:
        """Keep these sentences only, in this order; (M,) int64."""
        ...


MemoryT = TypeVar("MemoryT")
StateT = TypeVar("StateT", bound=SearchState)


class SearchModel(Protocol[MemoryT, StateT]):
    """The part of a model that ``beam_search`` calls."""

    def encode(self, source: Tensor, /) -> MemoryT:
        """Read the source, (B,S) int64 with padding 0."""
        ...

    def start(self, memory: MemoryT, max_length: int, /) -> StateT:
        """Return a cache of one hypothesis per sentence, with room for ``max_length`` positions."""
        ...

    def step(self, tokens: Tensor, state: StateT, /) -> Tensor:
        """Advance every hypothesis by one token, (B,K) int64, and return its features, (B,K,D)."""
        ...

    def logits(self, hidden: Tensor, /) -> Tensor:
        """Map features (...,D) to unnormalised log-probabilities (...,V)."""
        ...


class TranslationModel(SearchModel[MemoryT, StateT], Protocol[MemoryT, StateT]):
    """A ``SearchModel`` that also says where it lives and whether it is training."""

    training: bool

    @property
    def output_weight(self) -> Tensor:
        """The (V,D) output matrix; its device is where the source goes."""
        ...

    def train(self, mode: bool = True) -> object:
        """Switch dropout on or off."""
        ...
