"""The user's own text: two aligned files for each split, checked before anything is trained on them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from ablatable.config.data import Data
from ablatable.data.corpora.corpus import SPLITS, Draft, Overlap, Pair, fingerprint, overlaps, split_lines
from ablatable.errors import InputError

RECIPE = 1
_LANGUAGES = re.compile(r"^([a-z]{2,3})-([a-z]{2,3})$")


def languages(data: Data) -> tuple[str, str]:
    """Return the two language codes of ``data.files_languages``.

    Raises:
        InputError: not two different codes such as en-de.
    """
    match = _LANGUAGES.match(data.files_languages or "")
    if match is None or match[1] == match[2]:
        raise InputError(
            f"data.files_languages: '{data.files_languages}' is not two different language codes; write it like en-de"
        )
    return match[1], match[2]


def _paths(data: Data, split: str) -> tuple[Path, Path] | None:
    keys = [f"files_{side}_{split}" for side in ("source", "target")]
    values: list[str | None] = [getattr(data, key) for key in keys]
    if values == [None, None] and split == "test":
        return None
    for key, value in zip(keys, values, strict=True):
        if not value:
            raise InputError(f"data.{key} is not set; data.corpus=files needs the path of a text file there")
        if not Path(value).is_file():
            problem = "is not a file" if Path(value).exists() else "does not exist"
            raise InputError(f"data.{key}: {value} {problem}; give the path of a text file with one sentence a line")
    return Path(values[0] or ""), Path(values[1] or "")


def key(data: Data) -> str:
    """Return 16 hex digits of where the files are, their sizes and when they were written.

    Raises:
        InputError: a file that is not set or not there.
    """
    digest = hashlib.sha256(repr(languages(data)).encode())
    for split in SPLITS:
        for path in _paths(data, split) or ():
            status = path.stat()
            digest.update(f"\x00{split}\x00{path.resolve()}\x00{status.st_size}\x00{status.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def _decoded(path: Path) -> list[str]:
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {line} is not valid UTF-8 (byte 0x{raw[error.start]:02x}); "
            "convert the file, for example with iconv"
        ) from error
    return [line.removesuffix("\r") for line in split_lines(text.removeprefix("\ufeff"))]


def read_split(source: Path, target: Path, split: str) -> tuple[list[Pair], int]:
    r"""Read two aligned files; returns the pairs with text on both sides, and how many were dropped as empty.

    Lines end at ``\n`` only. A byte order mark and the ``\r`` of Windows line ends are dropped. Outside
    training nothing may be dropped: an empty side there is an error, since scores must be over every
    sentence.

    Raises:
        InputError: invalid UTF-8, different line counts, no pairs at all, an empty side in a held-out split.
    """
    left, right = _decoded(source), _decoded(target)
    if len(left) != len(right):
        raise InputError(
            f"{source} has {len(left)} lines and {target} has {len(right)}; the two sides must be aligned line by line"
        )
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a.strip() and b.strip()]
    empty = len(left) - len(pairs)
    if empty and split != "train":
        number = next(n for n, sides in enumerate(zip(left, right, strict=True), 1) if not all(map(str.strip, sides)))
        path = source if not left[number - 1].strip() else target
        raise InputError(
            f"{path}: line {number} is empty ({empty} such pairs); "
            "held-out sentences must not be empty, remove the pair from both files"
        )
    if not pairs:
        raise InputError(f"{source}: no sentence pairs with text on both sides; the {split} split needs at least one")
    return pairs, empty


def _read(data: Data) -> tuple[dict[str, list[Pair]], int]:
    splits: dict[str, list[Pair]] = {}
    dropped = 0
    for split in SPLITS:
        paths = _paths(data, split)
        splits[split], empty = read_split(*paths, split) if paths else ([], 0)
        dropped += empty
    return splits, dropped


def fingerprint_of(data: Data) -> str:
    """Return the fingerprint of the files' text, reading them.

    Raises:
        InputError: as ``build``.
    """
    return fingerprint(_read(data)[0])


def _overlap_sentences(found: Mapping[str, Overlap], sizes: Mapping[str, int]) -> list[str]:
    """Say how much of each held-out split training holds, for the splits it holds some of."""
    return [
        f"{split} and train overlap: {overlap.pairs}/{sizes[split]} = {overlap.share:.0%} "
        f"of the {split} pairs are training pairs too"
        for split, overlap in found.items()
        if overlap.pairs
    ]


def check_overlap(data: Data, found: Mapping[str, Overlap], sizes: Mapping[str, int]) -> list[str]:
    """Return one sentence for each held-out split that training holds pairs of.

    The same files may be in the cache from a run that allowed it, so this is asked at every use.

    Raises:
        InputError: there is one, without ``data.files_overlap=allow``.
    """
    sentences = _overlap_sentences(found, sizes)
    if sentences and data.files_overlap != "allow":
        raise InputError(
            f"data.corpus=files: {sentences[0]}; remove them from training, or set data.files_overlap=allow"
        )
    return sentences


def build(data: Data) -> Draft:
    """Read and check the files that ``data`` names; the text itself is left as it is.

    Raises:
        InputError: a missing file, invalid UTF-8, different line counts, an empty held-out side, no pairs, or
            held-out pairs inside training without ``data.files_overlap=allow``.
    """
    splits, dropped = _read(data)
    notes = [f"dropped {dropped} training pairs with an empty side"] if dropped else []
    notes += check_overlap(data, overlaps(splits), {split: len(pairs) for split, pairs in splits.items()})
    for split, pairs in splits.items():
        repeated = len(pairs) - len(set(pairs))
        if repeated:
            notes.append(f"{split} holds {repeated} repeated pairs")
    if not splits["test"]:
        notes.append("no test files were given: the test split is empty")
    read = [(f"{split} pairs", len(pairs)) for split, pairs in splits.items()]
    return Draft(
        origin="the user's files",
        licence="the user's",
        recipe=RECIPE,
        splits=splits,
        steps=[*read, ("dropped from training: empty side", dropped)],
        notes=notes,
    )
