"""Random choices that are the same on every machine and in every Python version."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Choices seeded by a word. Built on ``random.Random.random`` alone, whose sequence Python guarantees."""

    def __init__(self, seed: str) -> None:
        self._next = random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")).random

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self._next() < probability

    def one(self, items: Sequence[T]) -> T:
        """Return one of the items, all equally likely."""
        return items[int(self._next() * len(items))]

    def weighted(self, items: Sequence[tuple[float, T]]) -> T:
        """Return one of the (weight, item) pairs' items."""
        point = self._next() * sum(weight for weight, _ in items)
        for weight, item in items:
            point -= weight
            if point < 0:
                return item
        return items[-1][1]

    def rule(self, rules: Sequence[tuple[float, Callable[[], T]]]) -> T:
        """Apply one of the weighted rules."""
        return self.weighted(rules)()
