"""Token ids of a parallel text in flat memory-mapped arrays: the ids of a side, and where sentences start."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from ablatable.data.tokenizers.protocol import Tokenizer
from ablatable.data.tokenizers.special import UNK
from ablatable.errors import InputError

_Number = TypeVar("_Number", np.uint16, np.int32, np.int64)

_CHUNK = 20_000
"""Pairs held in memory at once while packing."""


@dataclass
class SideStats:
    """One side of one split; ``pieces`` counts neither bos nor eos."""

    pieces: int = 0
    unknown: int = 0
    longest: int = 0
    mean_length: float = 0.0

    @property
    def unknown_rate(self) -> float:
        """Unknown pieces over pieces; 0 where there are no pieces."""
        return self.unknown / max(1, self.pieces)

    def add(self, lengths: NDArray[np.int64], ids: NDArray[np.integer]) -> None:
        """Count one chunk of sentences."""
        self.pieces += int(lengths.sum())
        self.unknown += int((ids == UNK).sum())
        self.longest = max(self.longest, int(lengths.max(initial=0)))


@dataclass
class SplitStats:
    """What went into one split. ``dropped`` pairs were longer than ``data.max_length`` on a side."""

    pairs: int = 0
    dropped: int = 0
    source: SideStats = field(default_factory=SideStats)
    target: SideStats = field(default_factory=SideStats)


@dataclass(frozen=True)
class Side:
    """``ids[offsets[i]:offsets[i + 1]]`` is sentence i, without bos and eos."""

    ids: NDArray[np.uint16 | np.int32]
    offsets: NDArray[np.int64]

    def __getitem__(self, index: int) -> NDArray[np.uint16 | np.int32]:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of each sentence."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class PackedPairs:
    """Aligned sentences as token ids; lengths count neither bos nor eos."""

    source_side: Side
    target_side: Side
    stats: SplitStats

    def __len__(self) -> int:
        return len(self.source_side.offsets) - 1

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        """Source pieces of each pair, shape (pairs,)."""
        return self.source_side.lengths

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        """Target pieces of each pair, shape (pairs,)."""
        return self.target_side.lengths

    def source(self, index: int) -> NDArray[np.uint16 | np.int32]:
        """Return the source ids of one pair."""
        return self.source_side[index]

    def target(self, index: int) -> NDArray[np.uint16 | np.int32]:
        """Return the target ids of one pair."""
        return self.target_side[index]


def pack(
    pairs: Iterable[tuple[str, str]],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    folder: Path,
    split: str,
    max_length: int | None,
) -> SplitStats:
    """Write ``<split>.{source,target}.{ids,offsets}`` and ``<split>.json`` into ``folder``.

    Args:
        pairs: aligned lines.
        source_tokenizer: encodes the source side.
        target_tokenizer: encodes the target side.
        folder: an existing folder; wrap the call in ``publish`` to make it atomic.
        split: the files' first name.
        max_length: pairs with more pieces than this on a side are dropped and counted; None keeps all.
    """
    stats = SplitStats()
    with (
        _SideWriter(folder, f"{split}.source", source_tokenizer.size) as source,
        _SideWriter(folder, f"{split}.target", target_tokenizer.size) as target,
    ):
        for sources, targets in _encoded(pairs, source_tokenizer, target_tokenizer):
            longest = [max(len(left), len(right)) for left, right in zip(sources, targets, strict=True)]
            keep = [max_length is None or length <= max_length for length in longest]
            stats.pairs += sum(keep)
            stats.dropped += len(keep) - sum(keep)
            source.write([ids for ids, kept in zip(sources, keep, strict=True) if kept], stats.source)
            target.write([ids for ids, kept in zip(targets, keep, strict=True) if kept], stats.target)
    for side in (stats.source, stats.target):
        side.mean_length = side.pieces / max(1, stats.pairs)
    (folder / f"{split}.json").write_text(json.dumps(asdict(stats), indent=1) + "\n", encoding="utf-8")
    return stats


def open_packed(folder: Path, split: str) -> PackedPairs:
    """Map the arrays that ``pack`` wrote; nothing is read until it is used.

    Raises:
        InputError: the files don't belong together.
    """
    stored = json.loads((folder / f"{split}.json").read_text(encoding="utf-8"))
    source, target = SideStats(**stored.pop("source")), SideStats(**stored.pop("target"))
    return PackedPairs(
        _open_side(folder, f"{split}.source"),
        _open_side(folder, f"{split}.target"),
        SplitStats(**stored, source=source, target=target),
    )


def _encoded(
    pairs: Iterable[tuple[str, str]], source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Iterator[tuple[list[list[int]], list[list[int]]]]:
    pairs = iter(pairs)
    while chunk := list(islice(pairs, _CHUNK)):
        sources = source_tokenizer.encode_lines([source for source, _ in chunk])
        yield sources, target_tokenizer.encode_lines([target for _, target in chunk])


class _SideWriter:
    """Appends sentences to one side's two files, so that a large corpus never has to fit in memory."""

    def __init__(self, folder: Path, name: str, vocabulary: int) -> None:
        self._type = np.dtype(np.uint16 if vocabulary <= 1 << 16 else np.int32)
        self._ids: BinaryIO = (folder / f"{name}.{_suffix(self._type)}").open("wb")
        self._offsets: BinaryIO = (folder / f"{name}.offsets").open("wb")
        self._end = 0
        self._offsets.write(np.zeros(1, np.int64).tobytes())

    def __enter__(self) -> _SideWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._ids.close()
        self._offsets.close()

    def write(self, sentences: list[list[int]], stats: SideStats) -> None:
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        ids = np.fromiter(chain.from_iterable(sentences), self._type, int(lengths.sum()))
        self._ids.write(ids.tobytes())
        self._offsets.write((self._end + lengths.cumsum()).tobytes())
        self._end += int(lengths.sum())
        stats.add(lengths, ids)


def _suffix(type_: np.dtype[np.integer]) -> str:
    return "uint16" if type_.itemsize == 2 else "int32"


def _open_side(folder: Path, name: str) -> Side:
    small = folder / f"{name}.uint16"
    ids = _map(small, np.uint16) if small.exists() else _map(folder / f"{name}.int32", np.int32)
    offsets = _map(folder / f"{name}.offsets", np.int64)
    if not len(offsets) or offsets[-1] != len(ids):
        raise InputError(f"{folder}: damaged token ids ({name}); delete the folder and run the command again")
    return Side(ids, offsets)


def _map(path: Path, type_: type[_Number]) -> NDArray[_Number]:
    """Map a file read-only; an empty one cannot be mapped."""
    if path.stat().st_size == 0:
        return np.zeros(0, type_)
    # A plain array over the map: np.memmap's own class makes every small slice several times slower.
    return np.asarray(np.memmap(path, type_, mode="r"))
