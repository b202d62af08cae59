"""The hypotheses of a search while it goes on: which sentences and beams there are, and what is kept of each.

Shapes: B sentences, K beams, N = B*K hypotheses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor


class Beams(ABC):
    """The decoder's state after ``position`` tokens of every hypothesis.

    What the source gave is held once per sentence and never reordered; what the target gave, once per hypothesis.

    Attributes:
        sentences: sentences still held, B.
        max_length: most positions that can be decoded.
    """

    def __init__(self, sentences: int, max_length: int, device: torch.device) -> None:
        self.sentences = sentences
        self.max_length = max_length
        self.beams: int = 1
        self.position: int = 0
        self._device = device

    def check(self, tokens_BK: Tensor) -> None:
        """Refuse a step that cannot be made.

        Raises:
            ValueError: tokens do not match the state's sentences and beams, or all positions are used.
        """
        if tokens_BK.shape != (self.sentences, self.beams):
            raise ValueError(f"tokens {tuple(tokens_BK.shape)}, state {(self.sentences, self.beams)}")
        if self.position >= self.max_length:
            raise ValueError(f"all {self.max_length} positions of the state are used")

    def reorder(self, parents_BK: Tensor) -> None:
        """Make beam k of each sentence continue its former beam ``parents[b, k]``; K may change."""
        first_B1 = torch.arange(self.sentences, device=parents_BK.device)[:, None] * self.beams
        self._select_hypotheses((first_B1 + parents_BK).flatten())
        self.beams = parents_BK.shape[1]

    def widen(self, beams: int) -> None:
        """Copy the only beam of each sentence ``beams`` times.

        Raises:
            ValueError: there is more than one beam already.
        """
        if self.beams != 1:
            raise ValueError(f"widen() starts from one beam, not {self.beams}")
        self.reorder(torch.zeros(self.sentences, beams, dtype=torch.long, device=self._device))

    def select(self, sentences_M: Tensor) -> None:
        """Keep the given sentences with all their beams, in that order."""
        beams_K = torch.arange(self.beams, device=sentences_M.device)
        self._select_hypotheses((sentences_M[:, None] * self.beams + beams_K).flatten())
        self._select_sentences(sentences_M)
        self.sentences = sentences_M.shape[0]

    @abstractmethod
    def _select_hypotheses(self, hypotheses_N: Tensor) -> None:
        """Keep what the target gave to these hypotheses, in this order; one may be named several times."""

    @abstractmethod
    def _select_sentences(self, sentences_M: Tensor) -> None:
        """Keep what the source gave to these sentences."""


class BeamState(Beams):
    """A state of plain tensors: ``memory`` (B, ...) of the source, ``history`` (N, ...) of the target so far."""

    def __init__(self, memory: list[Tensor], history: list[Tensor], sentences: int, max_length: int) -> None:
        super().__init__(sentences, max_length, history[0].device)
        self.memory: list[Tensor] = memory
        self.history: list[Tensor] = history

    def advance(self, history: list[Tensor]) -> None:
        """Take the history as it is one position later."""
        self.history = history
        self.position += 1

    def _select_hypotheses(self, hypotheses_N: Tensor) -> None:
        self.history = [part.index_select(0, hypotheses_N) for part in self.history]

    def _select_sentences(self, sentences_M: Tensor) -> None:
        self.memory = [part.index_select(0, sentences_M) for part in self.memory]
