"""A corpus on disk: three splits of aligned text and the card that describes them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ablatable.errors import InputError

SPLITS = ("train", "valid", "test")
Pair = tuple[str, str]


def split_lines(text: str) -> list[str]:
    r"""Split on ``\n`` only; a final newline ends the last line instead of opening an empty one.

    ``str.splitlines`` also breaks at U+2028, U+0085 and form feeds, which puts parallel files out of step.
    """
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


@dataclass(frozen=True)
class SplitFacts:
    """What the card says about one split; ``bytes`` are the sizes of the source and target files."""

    pairs: int
    source_words: int
    target_words: int
    duplicates: int
    bytes: tuple[int, int]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SplitFacts:
        """Read one split of a stored card."""
        fields: dict[str, Any] = dict(data)
        fields["bytes"] = tuple(data["bytes"])
        return cls(**fields)


@dataclass(frozen=True)
class Overlap:
    """Held-out pairs that are in training too: whole pairs, their share of the split, source sides alone."""

    pairs: int
    share: float
    sources: int


@dataclass(frozen=True)
class Card:
    """Where a corpus comes from, what was done to it, and what it holds. Stored as ``card.json``.

    ``steps`` are (what, count) in the order they were done. ``packages`` are name -> version of what the
    text was taken from. ``expected_fingerprint`` is the one this version of Ablatable was tested with.
    """

    name: str
    source: str
    target: str
    recipe: int
    origin: str
    licence: str
    fingerprint: str
    expected_fingerprint: str | None
    packages: dict[str, str]
    steps: list[tuple[str, int]]
    splits: dict[str, SplitFacts]
    overlap: dict[str, Overlap]
    notes: list[str] = field(default_factory=list[str])

    def to_dict(self) -> dict[str, Any]:
        """Return the card as JSON-ready data."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Card:
        """Read what ``to_dict`` wrote."""
        fields: dict[str, Any] = dict(data)
        fields["splits"] = {name: SplitFacts.from_dict(facts) for name, facts in data["splits"].items()}
        fields["overlap"] = {name: Overlap(**facts) for name, facts in data["overlap"].items()}
        fields["steps"] = [(str(what), int(count)) for what, count in data["steps"]]
        return cls(**fields)


@dataclass(frozen=True)
class Corpus:
    """A corpus ready to read: ``folder/{train,valid,test}.{source,target}``, UTF-8, one sentence a line."""

    name: str
    source: str
    target: str
    folder: Path
    fingerprint: str
    card: Card

    def path(self, split: str, side: str) -> Path:
        """Return the file of one split and side; ``side`` is "source" or "target"."""
        return self.folder / f"{split}.{self.source if side == 'source' else self.target}"

    def lines(self, split: str, side: str) -> list[str]:
        r"""Return the sentences of one split and side, split on ``\n`` only."""
        return split_lines(self.path(split, side).read_bytes().decode("utf-8"))

    def pairs(self, split: str) -> list[Pair]:
        """Return the sentence pairs of one split."""
        return list(zip(self.lines(split, "source"), self.lines(split, "target"), strict=True))


def fingerprint(splits: Mapping[str, Sequence[Pair]]) -> str:
    """Return 16 hex digits of the SHA-256 of the text of all splits, sources and targets."""
    digest = hashlib.sha256()
    for split in SPLITS:
        for number, side in enumerate(("source", "target")):
            digest.update(f"\x00{split}.{side}\x00".encode())
            digest.update("".join(f"{pair[number]}\n" for pair in splits[split]).encode())
    return digest.hexdigest()[:16]


def overlaps(splits: Mapping[str, Sequence[Pair]]) -> dict[str, Overlap]:
    """Count the pairs of each held-out split that training holds as well."""
    train = set(splits["train"])
    sources = {source for source, _ in train}
    found: dict[str, Overlap] = {}
    for split in SPLITS[1:]:
        held_out = splits[split]
        shared = sum(pair in train for pair in held_out)
        share = shared / len(held_out) if held_out else 0.0
        found[split] = Overlap(shared, share, sum(source in sources for source, _ in held_out))
    return found


def _facts(pairs: Sequence[Pair], sizes: tuple[int, int]) -> SplitFacts:
    words = [sum(len(pair[side].split()) for pair in pairs) for side in (0, 1)]
    return SplitFacts(len(pairs), words[0], words[1], len(pairs) - len(Counter(pairs)), sizes)


@dataclass
class Draft:
    """A corpus in memory, before it is stored: the pairs and what only its maker knows about them."""

    origin: str
    licence: str
    recipe: int
    splits: dict[str, list[Pair]]
    packages: dict[str, str] = field(default_factory=dict[str, str])
    steps: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    notes: list[str] = field(default_factory=list[str])


def write(draft: Draft, folder: Path, name: str, languages: tuple[str, str], expected: str | None) -> None:
    """Write the split files and then the card of ``draft`` into an empty ``folder``."""
    facts: dict[str, SplitFacts] = {}
    for split in SPLITS:
        pairs = draft.splits[split]
        sizes: list[int] = []
        for number, language in enumerate(languages):
            text = "".join(f"{pair[number]}\n" for pair in pairs).encode()
            (folder / f"{split}.{language}").write_bytes(text)
            sizes.append(len(text))
        facts[split] = _facts(pairs, (sizes[0], sizes[1]))
    card = Card(
        name=name,
        source=languages[0],
        target=languages[1],
        recipe=draft.recipe,
        origin=draft.origin,
        licence=draft.licence,
        fingerprint=fingerprint(draft.splits),
        expected_fingerprint=expected,
        packages=draft.packages,
        steps=draft.steps,
        splits=facts,
        overlap=overlaps(draft.splits),
        notes=draft.notes,
    )
    (folder / "card.json").write_text(json.dumps(card.to_dict(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_card(folder: Path) -> Card | None:
    """Return the card of a stored corpus, or None where there is none.

    Raises:
        InputError: the card cannot be read.
    """
    path = folder / "card.json"
    try:
        return Card.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path}: unreadable corpus card; delete the folder {folder} and run the command again"
        ) from error


def open_corpus(folder: Path) -> Corpus | None:
    """Return the corpus stored in ``folder``, or None where there is none.

    Raises:
        InputError: a file is missing or has another size than the card says.
    """
    card = read_card(folder)
    if card is None:
        return None
    corpus = Corpus(card.name, card.source, card.target, folder, card.fingerprint, card)
    for split, facts in card.splits.items():
        for side, size in zip(("source", "target"), facts.bytes, strict=True):
            path = corpus.path(split, side)
            if not path.is_file() or path.stat().st_size != size:
                raise InputError(f"{path}: missing or damaged; delete the folder {folder} and run the command again")
    return corpus
