"""A corpus on disk: three splits of aligned text and the card that describes them."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def _fingerprint(text: Callable[[str, int], Iterable[bytes]]) -> str:
    """Return 16 hex digits of the SHA-256 of the text of all splits; ``text`` gives a split's side (0 or 1)."""
    digest = hashlib.sha256()
    for split in SPLITS:
        for number, side in enumerate(("source", "target")):
            digest.update(f"\x00{split}.{side}\x00".encode())
            for chunk in text(split, number):
                digest.update(chunk)
    return digest.hexdigest()[:16]


def fingerprint(splits: Mapping[str, Sequence[Pair]]) -> str:
    """Return the fingerprint of text in memory: of all splits, sources and targets."""
    return _fingerprint(lambda split, number: (f"{pair[number]}\n".encode() for pair in splits[split]))


def _file_fingerprint(folder: Path, languages: tuple[str, str]) -> str:
    """Return the fingerprint of text that has been written, the same as that of the text itself."""

    def text(split: str, number: int) -> Iterator[bytes]:
        with (folder / f"{split}.{languages[number]}").open("rb") as file:
            while chunk := file.read(1 << 20):
                yield chunk

    return _fingerprint(text)


class _Watch:
    """Sees the training pairs go by and says which held-out pairs were among them."""

    def __init__(self, held_out: Mapping[str, Sequence[Pair]]) -> None:
        self._held_out = held_out
        self._pairs = {pair for pairs in held_out.values() for pair in pairs}
        self._sources = {source for source, _ in self._pairs}
        self._seen_pairs: set[Pair] = set()
        self._seen_sources: set[str] = set()

    def watched(self, train: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the training pairs as they are."""
        for pair in train:
            if pair[0] in self._sources:
                self._seen_sources.add(pair[0])
                if pair in self._pairs:
                    self._seen_pairs.add(pair)
            yield pair

    def overlaps(self) -> dict[str, Overlap]:
        """Count the pairs of each held-out split that training held as well."""
        found: dict[str, Overlap] = {}
        for split, pairs in self._held_out.items():
            shared = sum(pair in self._seen_pairs for pair in pairs)
            share = shared / len(pairs) if pairs else 0.0
            found[split] = Overlap(shared, share, sum(source in self._seen_sources for source, _ in pairs))
        return found


def overlaps(splits: Mapping[str, Sequence[Pair]]) -> dict[str, Overlap]:
    """Count the pairs of each held-out split that training holds as well."""
    watch = _Watch({split: splits[split] for split in SPLITS[1:]})
    for _ in watch.watched(splits["train"]):
        pass
    return watch.overlaps()


@dataclass
class Draft:
    """A corpus before it is stored: the pairs and what only its maker knows about them.

    ``splits["train"]`` may be made while it is read, once; ``steps`` and ``notes`` are read after it.
    """

    origin: str
    licence: str
    recipe: int
    splits: Mapping[str, Iterable[Pair]]
    packages: dict[str, str] = field(default_factory=dict[str, str])
    steps: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    notes: list[str] = field(default_factory=list[str])


def _write_split(folder: Path, split: str, languages: tuple[str, str], pairs: Iterable[Pair]) -> SplitFacts:
    """Write both files of a split while its pairs are made."""
    import numpy as np  # here: `plan` and `table` read cards and must start fast

    counts, words, sizes = 0, [0, 0], [0, 0]
    hashes: array[int] = array("q")  # 64 bits a pair: a corpus of 40 million pairs would not fit in a set
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context((folder / f"{split}.{language}").open("wb")) for language in languages]
        for pair in pairs:
            counts += 1
            hashes.append(hash(pair))
            for number in (0, 1):
                words[number] += len(pair[number].split())
                sizes[number] += files[number].write(f"{pair[number]}\n".encode())
    distinct = len(np.unique(np.frombuffer(hashes, dtype=np.int64))) if counts else 0
    return SplitFacts(counts, words[0], words[1], counts - distinct, (sizes[0], sizes[1]))


def write(draft: Draft, folder: Path, name: str, languages: tuple[str, str], expected: str | None) -> None:
    """Write the split files and then the card of ``draft`` into an empty ``folder``."""
    watch = _Watch({split: list(draft.splits[split]) for split in SPLITS[1:]})
    splits = {**draft.splits, "train": watch.watched(draft.splits["train"])}
    facts = {split: _write_split(folder, split, languages, splits[split]) for split in SPLITS}
    card = Card(
        name=name,
        source=languages[0],
        target=languages[1],
        recipe=draft.recipe,
        origin=draft.origin,
        licence=draft.licence,
        fingerprint=_file_fingerprint(folder, languages),
        expected_fingerprint=expected,
        packages=draft.packages,
        steps=draft.steps,
        splits=facts,
        overlap=watch.overlaps(),
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
