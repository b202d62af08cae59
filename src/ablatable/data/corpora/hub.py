"""Public benchmarks from the Hugging Face hub, through ``datasets`` (the extra ``hub``).

What is held out stays as it is, sentence by sentence, since scores are over all of it. From training go the
pairs without text on a side and the pairs that are held out.
"""

from __future__ import annotations

import errno
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ablatable.data.corpora.cleaning import Steps
from ablatable.data.corpora.corpus import SPLITS, Draft, Pair
from ablatable.data.corpora.storage import Say
from ablatable.errors import InputError

RECIPE = 1
_ELSEWHERE = (
    "download the text yourself and use data.corpus=files with data.files_source_train, data.files_target_train, ..., "
    "or use data.corpus=toy-en-de (made on the spot)"
)
_BATCH = 1000
_HUB_NAMES = {"train": "train", "valid": "validation", "test": "test"}


class Rows(Protocol):
    """What is used of a ``datasets.Dataset``, which annotates itself in part only."""

    @property
    def column_names(self) -> list[str]:
        """The columns of the table."""
        ...

    def iter(self, batch_size: int) -> Iterator[Mapping[str, list[Any]]]:
        """Yield the table in parts: column -> cells."""
        ...


@dataclass(frozen=True)
class HubText:
    """Where a benchmark lies and what its held-out sets are.

    Args:
        root: ``hf://datasets/<owner>/<name>@<revision>``, or a local folder of the same layout.
        files: split -> pattern of its files below ``root``, parquet or JSON lines.
        column: of the dictionaries of language -> text; None where the languages are columns themselves.
        held_out: split -> the set's own name and the number of its sentences.
        licence: of the text.
    """

    root: str
    files: Mapping[str, str]
    column: str | None
    held_out: Mapping[str, tuple[str, int]]
    licence: str

    @property
    def builder(self) -> str:
        """The reader of ``datasets`` for these files."""
        return "parquet" if self.files["train"].endswith(".parquet") else "json"


def _wmt14(folder: str) -> HubText:
    """WMT 2014 as the paper used it: newstest2013 for development, newstest2014 as the test set."""
    return HubText(
        "hf://datasets/wmt/wmt14@main",
        {split: f"{folder}/{name}-*.parquet" for split, name in _HUB_NAMES.items()},
        "translation",
        {"valid": ("newstest2013", 3000), "test": ("newstest2014", 3003)},
        "mixed, for research (Europarl, Common Crawl, News Commentary and others)",
    )


TEXTS: dict[str, HubText] = {
    "wmt14-en-de": _wmt14("de-en"),
    "wmt14-en-fr": _wmt14("fr-en"),
    "iwslt14-de-en": HubText(
        "hf://datasets/bbaaaa/iwslt14-de-en@refs%2Fconvert%2Fparquet",
        {split: f"de-en/{name}/*.parquet" for split, name in _HUB_NAMES.items()},
        "translation",
        {"valid": ("the usual development set", 7283), "test": ("the usual test set", 6750)},
        "CC BY-NC-ND 4.0",
    ),
    "multi30k-en-de": HubText(
        "hf://datasets/bentrevett/multi30k@main",
        {"train": "train.jsonl", "valid": "val.jsonl", "test": "test.jsonl"},
        None,
        {"valid": ("Multi30k's development set", 1014), "test": ("the test set of 2016", 1000)},
        "of the captions: CC BY-NC-SA 4.0",
    ),
}


def _chain(error: BaseException) -> Iterator[BaseException]:
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or following.__context__


_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
_NETWORK = ("TransportError", "NetworkError", "TimeoutException", "RequestException")
"""Classes of the HTTP libraries that the hub's client has been built on."""


def _refusal(name: str, root: str, error: Exception) -> Exception:
    """Return what to raise for a data set that could not be loaded: one sentence, or the disk's own error."""
    links = list(_chain(error))
    disk = next((link for link in links if isinstance(link, OSError) and link.errno in _DISK), None)
    if any(
        isinstance(link, ConnectionError | TimeoutError) or {c.__name__ for c in type(link).__mro__} & set(_NETWORK)
        for link in links
    ):
        return InputError(f"data.corpus={name} comes from the Hugging Face hub, which cannot be reached; {_ELSEWHERE}")
    if disk is not None:
        return disk
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return InputError(f"data.corpus={name}: {root} cannot be read as expected ({reason}); {_ELSEWHERE}")


def _load(name: str, text: HubText, folder: Path) -> dict[str, Rows]:
    try:
        import datasets
    except ImportError as error:
        raise InputError(
            f"data.corpus={name} comes from the Hugging Face hub and needs the package `datasets`: "
            f"pip install 'ablatable[hub]'; or {_ELSEWHERE}"
        ) from error
    files = {split: f"{text.root}/{pattern}" for split, pattern in text.files.items()}
    try:
        loaded: Any = datasets.load_dataset(text.builder, data_files=files, cache_dir=str(folder))
    except (
        Exception
    ) as error:  # any: the hub's client changes its HTTP library, and with it its errors, between releases
        raise _refusal(name, text.root, error) from error
    return {split: loaded[split] for split in SPLITS}


_LINE_ENDS = re.compile(r"[\r\n]+")


def _line(cell: object) -> str:
    r"""Return a cell as one line: only ``\n`` and ``\r`` inside it and the spaces around it are changed."""
    return _LINE_ENDS.sub(" ", cell).strip() if isinstance(cell, str) else ""


def _cells(batch: Mapping[str, list[Any]], column: str | None, language: str) -> list[Any]:
    """Return the texts of one language: a column, or the entries of the dictionaries in ``column``."""
    return [cell and cell.get(language) for cell in batch[column]] if column else batch[language]


def _rows(name: str, text: HubText, rows: Rows, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of one split; a missing cell is an empty text."""
    missing = [column for column in ([text.column] if text.column else languages) if column not in rows.column_names]
    if missing:
        raise InputError(
            f"data.corpus={name}: {text.root} has the columns {', '.join(rows.column_names)} and not "
            f"{' and '.join(missing)}; {_ELSEWHERE}"
        )
    for batch in rows.iter(batch_size=_BATCH):
        for source, target in zip(*(_cells(batch, text.column, code) for code in languages), strict=True):
            yield _line(source), _line(target)


def _held_out(name: str, split: str, pairs: list[Pair]) -> list[Pair]:
    """Refuse a held-out set that is empty or has an empty side: nothing may be left out of a score."""
    empty = next((number for number, pair in enumerate(pairs, 1) if not all(pair)), None)
    if not pairs or empty is not None:
        where = f"sentence {empty} of the {split} split has an empty side" if pairs else f"the {split} split is empty"
        raise InputError(f"data.corpus={name}: {where}, so this is not the known data set; {_ELSEWHERE}")
    return pairs


def _size_notes(text: HubText, held: Mapping[str, list[Pair]]) -> list[str]:
    return [
        f"{split} has {len(held[split]):,} sentences where {set_name} has {size:,}: "
        "scores do not compare with published ones"
        for split, (set_name, size) in text.held_out.items()
        if len(held[split]) != size
    ]


def build(name: str, languages: tuple[str, str], cache: Path, say: Say) -> Draft:
    """Load a benchmark; training is read while it is written, as it may be larger than the memory.

    Raises:
        InputError: no ``datasets``, no network, or a data set of another form.
    """
    text = TEXTS[name]
    say(f"loading {text.root} (the hub's own cache keeps the download)")
    converted = cache / "hub" / name
    loaded = _load(name, text, converted)
    held = {split: _held_out(name, split, list(_rows(name, text, loaded[split], languages))) for split in SPLITS[1:]}
    steps: Steps = [(f"{split} pairs", len(pairs)) for split, pairs in held.items()]

    def training() -> Iterator[Pair]:
        known = {pair for pairs in held.values() for pair in pairs}
        counts: Counter[str] = Counter()
        for pair in _rows(name, text, loaded["train"], languages):
            reason = "empty side" if not all(pair) else "held-out pair" if pair in known else "kept"
            counts[reason] += 1
            if reason == "kept":
                yield pair
        if not counts["kept"]:
            raise InputError(f"data.corpus={name}: no training pairs with text on both sides; {_ELSEWHERE}")
        steps.append(("train pairs", counts.total()))
        steps.extend((f"dropped from training: {reason}", counts[reason]) for reason in ("empty side", "held-out pair"))
        shutil.rmtree(converted, ignore_errors=True)  # what `datasets` made of the download, not needed any more

    sets = ", ".join(f"{split} is {set_name}" for split, (set_name, _) in text.held_out.items())
    order = "training stands in the order of the data set, so data.train_pairs takes its first pairs"
    return Draft(
        origin=f"Hugging Face hub, {text.root.removeprefix('hf://datasets/')}",
        licence=text.licence,
        recipe=RECIPE,
        splits={"train": training(), **held},
        steps=steps,
        notes=[sets, order, *_size_notes(text, held)],
    )
