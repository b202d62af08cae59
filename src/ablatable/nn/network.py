"""What every architecture is to training, search and scoring.

Shapes: B sentences, S source, T target, K beams, D d_model, V target vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar, cast

import torch.nn.functional as F
from torch import Tensor, nn

MemoryT = TypeVar("MemoryT")
StateT = TypeVar("StateT")


class Network(nn.Module, ABC, Generic[MemoryT, StateT]):
    """Source ids and target ids to hidden states of width d_model, and those to logits. Padding is id 0 on both sides.

    Subclasses set ``output``, a module with a ``weight`` (V, D), and say how text is read. States are those of
    :mod:`ablatable.decoding.model`.
    """

    output: nn.Module

    @abstractmethod
    def encode(self, source_BS: Tensor) -> MemoryT:
        """Read source ids (B, S) int64."""

    @abstractmethod
    def decode(self, target_input_BT: Tensor, memory: MemoryT) -> Tensor:
        """Return the hidden states (B, T, D) before the output projection; position t saw ids 0..t."""

    @abstractmethod
    def start(self, memory: MemoryT, max_length: int) -> StateT:
        """Begin decoding with one empty beam per sentence and room for ``max_length`` positions at most."""

    @abstractmethod
    def step(self, tokens_BK: Tensor, state: StateT) -> Tensor:
        """Feed one token to every beam and return the hidden states (B, K, D) of that position."""

    @property
    def output_weight(self) -> nn.Parameter:
        """The output projection (V, D); the embedding's own Parameter where tied."""
        return cast(nn.Parameter, self.output.weight)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return unnormalised scores (..., V) of hidden states (..., D)."""
        return F.linear(hidden, self.output_weight)

    def forward(self, source_BS: Tensor, target_input_BT: Tensor) -> Tensor:
        """Return the logits (B, T, V) of every target position."""
        return self.logits(self.decode(target_input_BT, self.encode(source_BS)))


AnyNetwork = Network[Any, Any]
"""A network whatever its memory and state are."""
