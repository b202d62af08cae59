"""Hold out validation and test sets without near-duplicates in training.

Templated text leaks through a plain random split (16 % near-duplicates in LibreOffice's help), so that a
model scores by memory. Here a training pair goes when it shares a side with a held-out pair or contains
most of its word 3-grams.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

Pair = tuple[str, str]
_WORD = re.compile(r"\w+")
NEAR = 0.7
"""Share of a held-out sentence's word 3-grams that a training sentence may not reach."""


@dataclass
class Splits:
    """The three sets of pairs, and how many training pairs each rule dropped."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    dropped: dict[str, int] = field(default_factory=dict[str, int])

    def named(self) -> dict[str, list[Pair]]:
        """Return the sets under their file names."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


def order_key(text: str) -> str:
    """Return a key that shuffles texts the same way on every machine, whatever else is in the corpus."""
    return hashlib.sha256(text.encode()).hexdigest()


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """Return the set of word 3-grams, case-folded, without punctuation; a shorter text is one gram."""
    words = _WORD.findall(text.casefold())
    if len(words) < 3:
        return frozenset({tuple(words)}) if words else frozenset()
    return frozenset(zip(words, words[1:], words[2:], strict=False))


class NearDuplicates:
    """Finds texts that contain at least ``NEAR`` of a held-out text's word 3-grams."""

    def __init__(self, held_out: list[str]) -> None:
        self._sizes: list[int] = []
        self._index: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, text in enumerate(held_out):
            grams = trigrams(text)
            self._sizes.append(len(grams))
            for gram in grams:
                self._index[gram].append(number)

    def near(self, text: str) -> bool:
        """Say whether ``text`` is a near-duplicate of a held-out text."""
        shared = Counter(number for gram in trigrams(text) for number in self._index.get(gram, ()))
        return any(count >= NEAR * self._sizes[number] for number, count in shared.items())


def hold_out(pairs: list[Pair], valid: int, test: int) -> Splits:
    """Split distinct ``pairs`` into train, valid and test by source sentence.

    Sources are ordered by a hash of their text: the first ``test`` are the test set, the next ``valid`` the
    validation set, one pair for each source. The training pairs that remain stand in hash order too, so
    that the first n of them are a fair sample.
    """
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair[0]].append(pair)
    sources = sorted(by_source, key=order_key)
    test_pairs = [by_source[source][0] for source in sources[:test]]
    valid_pairs = [by_source[source][0] for source in sources[test : test + valid]]
    rest = sorted(
        (pair for source in sources[test + valid :] for pair in by_source[source]),
        key=lambda pair: order_key("\t".join(pair)),
    )
    held = test_pairs + valid_pairs
    sides = [frozenset(pair[side] for pair in held) for side in (0, 1)]
    near = [NearDuplicates([pair[side] for pair in held]) for side in (0, 1)]
    splits = Splits([], valid_pairs, test_pairs, {"shared side": 0, "near-duplicate": 0})
    splits.dropped["other translation"] = sum(len(by_source[s]) - 1 for s in sources[: test + valid])
    for pair in rest:
        if pair[0] in sides[0] or pair[1] in sides[1]:
            splits.dropped["shared side"] += 1
        elif near[0].near(pair[0]) or near[1].near(pair[1]):
            splits.dropped["near-duplicate"] += 1
        else:
            splits.train.append(pair)
    return splits
