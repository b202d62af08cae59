"""The decoding state of the rivals: plain tensors, some a sentence, some a hypothesis.

Shapes: B sentences, K beams, N = B*K hypotheses.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class BeamState:
    """The decoder's state after ``position`` tokens of every hypothesis.

    Attributes:
        memory: what the source gave, tensors (B, ...), held once per sentence and never reordered.
        history: what the target gave so far, tensors (N, ...).
        sentences: sentences still held, B.
        max_length: most positions that can be decoded.
    """

    memory: list[Tensor]
    history: list[Tensor]
    sentences: int
    max_length: int
    beams: int = 1
    position: int = 0

    def check(self, tokens_BK: Tensor) -> None:
        """Refuse a step that cannot be made.

        Raises:
            ValueError: tokens do not match the state's sentences and beams, or all positions are used.
        """
        if tokens_BK.shape != (self.sentences, self.beams):
            raise ValueError(f"tokens {tuple(tokens_BK.shape)}, state {(self.sentences, self.beams)}")
        if self.position >= self.max_length:
            raise ValueError(f"all {self.max_length} positions of the state are used")

    def advance(self, history: list[Tensor]) -> None:
        """Take the history as it is one position later."""
        self.history = history
        self.position += 1

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
        device = self.history[0].device
        self.reorder(torch.zeros(self.sentences, beams, dtype=torch.long, device=device))

    def select(self, sentences_M: Tensor) -> None:
        """Keep the given sentences with all their beams, in that order."""
        beams_K = torch.arange(self.beams, device=sentences_M.device)
        self._select_hypotheses((sentences_M[:, None] * self.beams + beams_K).flatten())
        self.memory = [part.index_select(0, sentences_M) for part in self.memory]
        self.sentences = sentences_M.shape[0]

    def _select_hypotheses(self, hypotheses_N: Tensor) -> None:
        self.history = [part.index_select(0, hypotheses_N) for part in self.history]
