"""Clean sentence pairs out of Debian packages, and how they become a corpus with held-out sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ablatable.data.corpora.cleaning import Steps
from ablatable.data.corpora.corpus import Draft, Pair
from ablatable.data.corpora.splitting import hold_out
from ablatable.errors import InputError

HELD_OUT = 1000
"""Sentence pairs in the development set, and as many in the test set."""


@dataclass(frozen=True)
class Harvest:
    """Distinct clean pairs of one source; ``packages`` are name -> version of what they were read from."""

    pairs: list[Pair]
    steps: Steps
    packages: dict[str, str]
    origin: str
    licence: str


def united(parts: Sequence[tuple[str, Harvest]]) -> Harvest:
    """Return the distinct pairs of several named sources together, in the order of the sources."""
    pairs: dict[Pair, None] = {}
    steps: Steps = []
    packages: dict[str, str] = {}
    for name, part in parts:
        pairs.update(dict.fromkeys(part.pairs))
        steps.append((name, len(part.pairs)))
        packages |= part.packages
    return Harvest(
        list(pairs),
        [*steps, ("distinct pairs", len(pairs))],
        packages,
        " + ".join(part.origin for _, part in parts),
        " + ".join(dict.fromkeys(part.licence for _, part in parts)),
    )


def draft(harvest: Harvest, recipe: int) -> Draft:
    """Hold out a development and a test set, without near-duplicates in training.

    Raises:
        InputError: too few pairs to hold any out.
    """
    if len(harvest.pairs) < 4 * HELD_OUT:
        read = " and ".join(f"{name} {version}" for name, version in harvest.packages.items())
        raise InputError(
            f"{read}: only {len(harvest.pairs)} usable sentence pairs, this release has another form; "
            "use data.corpus=toy-en-de or data.corpus=files instead"
        )
    splits = hold_out(harvest.pairs, valid=HELD_OUT, test=HELD_OUT)
    dropped = [(f"dropped from training: {reason}", count) for reason, count in splits.dropped.items()]
    return Draft(
        origin=harvest.origin,
        licence=harvest.licence,
        recipe=recipe,
        splits=splits.named(),
        packages=harvest.packages,
        steps=[*harvest.steps, *dropped],
    )
