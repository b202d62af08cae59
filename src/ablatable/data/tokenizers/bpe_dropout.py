"""BPE-dropout (Provilkov et al., 2020): merges left out at random, so that a word is cut anew each time.

The order of events is sentencepiece's: a merge is looked at once when its two pieces come to stand side by side, best
first, and left out for good with the given probability. (Provilkov et al., algorithm 1, look at every merge again after
each one done, and so leave out fewer at the same rate.)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from ablatable.data.tokenizers.special import FIRST_PIECE

_KEPT_WORDS = 200_000
"""Words whose plain segmentation is remembered; beyond it the memory is emptied."""


class _Plain(NamedTuple):
    ids: list[int]
    looks: int  # merges looked at on the way, all of them done


class BpeDropout:
    """Draws segmentations of words by a BPE vocabulary whose scores order its merges."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        """Take the whole vocabulary in id order, special pieces first; a larger score is merged earlier."""
        normal = range(FIRST_PIECE, len(pieces))
        self._ids = {pieces[index]: index for index in normal}
        self._ranks = {pieces[index]: -scores[index] for index in normal}
        self._words: dict[str, _Plain] = {}

    def cut(self, word: str, rate: float, draw: Callable[[], float]) -> list[int]:
        """Return a segmentation of ``word``, its mark of a word's beginning included.

        Args:
            word: characters that are each a piece.
            rate: probability of leaving out a merge, 0 (plain BPE) to 1 (characters).
            draw: uniform numbers in [0, 1).

        Raises:
            KeyError: a character is no piece.
        """
        plain = self._words.get(word)
        if plain is None:
            plain = self._merge(word, lambda: True)
            if len(self._words) >= _KEPT_WORDS:
                self._words.clear()
            self._words[word] = plain
        # Most words lose no merge, and then nothing need be merged again: the first draws tell.
        first = [draw() for _ in range(plain.looks)]
        if all(one >= rate for one in first):
            return plain.ids
        drawn = chain(first, iter(draw, None))
        return self._merge(word, lambda: next(drawn) >= rate).ids

    def _merge(self, word: str, keep: Callable[[], bool]) -> _Plain:
        """Merge the best pair, leftmost first, as long as there is one; ``keep`` says whether it is done."""
        symbols = list(word)
        before, after = list(range(-1, len(word) - 1)), [*range(1, len(word)), -1]
        agenda: list[tuple[float, int, int, int]] = []
        looks = 0

        def offer(left: int, right: int) -> None:
            if left >= 0 and right >= 0:
                piece = symbols[left] + symbols[right]
                if (rank := self._ranks.get(piece)) is not None:
                    heapq.heappush(agenda, (rank, left, right, len(piece)))

        for left in range(len(word) - 1):
            offer(left, left + 1)
        while agenda:
            _, left, right, length = heapq.heappop(agenda)
            there = symbols[left] and symbols[right] and len(symbols[left]) + len(symbols[right]) == length
            if not there:
                continue
            looks += 1
            if not keep():
                continue
            symbols[left] += symbols[right]
            symbols[right] = ""
            after[left] = after[right]
            if after[right] >= 0:
                before[after[right]] = left
            offer(before[left], left)
            offer(left, after[left])
        return _Plain([self._ids[symbol] for symbol in symbols if symbol], looks)
