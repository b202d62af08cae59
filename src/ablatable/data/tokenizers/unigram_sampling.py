"""Sub-word regularisation (Kudo, 2018, section 3.3): segmentations drawn by their probability to a power.

All segmentations of a word take part (Kudo's l is infinite): probabilities are summed from the front and pieces drawn
from the back. A piece lies within a word, so words are drawn independently of each other.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ablatable.data.tokenizers.special import FIRST_PIECE

_KEPT_WORDS = 100_000
"""Words whose sums are remembered; beyond it the memory is emptied."""


class _Ends(NamedTuple):
    """The pieces that may end at one place of a word."""

    starts: list[int]
    ids: list[int]
    shares: list[float]  # of their probability, added up; the last is about 1


class UnigramSampling:
    """Draws segmentations of words by a unigram model's log probabilities."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        """Take the whole vocabulary in id order, special pieces first, with natural logarithms."""
        self._pieces = {pieces[index]: (index, scores[index]) for index in range(FIRST_PIECE, len(pieces))}
        self._longest = max(map(len, self._pieces))
        self._rate = math.nan
        self._words: dict[str, list[_Ends]] = {}

    def cut(self, word: str, rate: float, draw: Callable[[], float]) -> list[int]:
        """Return a segmentation of ``word``, its mark of a word's beginning included.

        Args:
            word: characters that are each a piece.
            rate: alpha, the power of a segmentation's probability; towards 0 all become equal.
            draw: uniform numbers in [0, 1).

        Raises:
            IndexError: a character is no piece, and no other piece has it.
        """
        if rate != self._rate or len(self._words) >= _KEPT_WORDS:
            self._words.clear()
            self._rate = rate
        ends = self._words.get(word)
        if ends is None:
            ends = self._words[word] = self._ends(word, rate)
        found: list[int] = []
        place = len(word)
        while place:
            last = ends[place]
            # The sum of the shares may miss 1 by rounding.
            chosen = min(bisect_right(last.shares, draw()), len(last.ids) - 1) if len(last.ids) > 1 else 0
            found.append(last.ids[chosen])
            place = last.starts[chosen]
        return found[::-1]

    def _ends(self, word: str, rate: float) -> list[_Ends]:
        total = [0.0] + [-math.inf] * len(word)  # log of the summed weights of all ways up to a place
        ends = [_Ends([], [], [])]
        for end in range(1, len(word) + 1):
            starts: list[int] = []
            ids: list[int] = []
            weights: list[float] = []
            for start in range(max(0, end - self._longest), end):
                piece = self._pieces.get(word[start:end])
                if piece is not None and total[start] > -math.inf:
                    starts.append(start)
                    ids.append(piece[0])
                    weights.append(total[start] + rate * piece[1])
            if weights:
                best = max(weights)
                total[end] = best + math.log(sum(math.exp(weight - best) for weight in weights))
            ends.append(_Ends(starts, ids, list(accumulate(math.exp(weight - total[end]) for weight in weights))))
        return ends
