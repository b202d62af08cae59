"""Copy, reverse and sort random symbols: for convergence tests, never for a published table."""

from __future__ import annotations

import hashlib
import random

from ablatable.data.corpora.corpus import Draft, Pair

RECIPE = 1
SYMBOLS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
SHORTEST, LONGEST = 3, 12
SIZES = {"train": 20_000, "valid": 500, "test": 500}


def answer(task: str, symbols: list[str]) -> list[str]:
    """Return the target side of one task: ``copy``, ``reverse`` or ``sort`` (in alphabetical order)."""
    if task == "copy":
        return list(symbols)
    if task == "reverse":
        return symbols[::-1]
    if task == "sort":
        return sorted(symbols)
    raise ValueError(f"unknown task {task!r}")


def build(task: str) -> Draft:
    """Make distinct random sequences of the letters a..z, 3 to 12 long, and their answers.

    The three tasks have different sources: each is seeded by its own name. ``random.Random.random`` is
    specified to give the same sequence in every Python version, so the fingerprint holds everywhere.
    """
    seed = int.from_bytes(hashlib.sha256(f"synthetic-{task}-{RECIPE}".encode()).digest()[:8])
    draw = random.Random(seed).random
    seen: dict[Pair, None] = {}
    while len(seen) < sum(SIZES.values()):
        length = SHORTEST + int(draw() * (LONGEST - SHORTEST + 1))
        symbols = [SYMBOLS[int(draw() * len(SYMBOLS))] for _ in range(length)]
        seen.setdefault((" ".join(symbols), " ".join(answer(task, symbols))))
    pairs = list(seen)
    splits: dict[str, list[Pair]] = {}
    start = 0
    for split, size in SIZES.items():
        splits[split] = pairs[start : start + size]
        start += size
    return Draft(
        origin=f"random symbols ({task}), made by Ablatable",
        licence="MIT",
        recipe=RECIPE,
        splits=splits,
        steps=[("distinct pairs", len(pairs))],
    )
