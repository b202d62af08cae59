"""Which corpus a run's identity names: told by the corpus on disk, or by the records made with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

from ablatable.config.catalogue import CORPORA
from ablatable.config.data import Data
from ablatable.record.schema import Record
from ablatable.study.resolve import Fingerprint


def recorded_fingerprint(records: Iterable[Record]) -> Fingerprint:
    """Answer from records alone, so that a published table needs neither the corpus nor `runs/`.

    Where records of one corpus disagree (another release of its package), the latest finished one counts.
    """
    known: dict[tuple[object, ...], str] = {}
    for record in sorted(records, key=lambda record: record.stamp.finished):
        known[_key(record.config.get("data", {}))] = record.stamp.corpus_fingerprint
    return lambda data: known.get(_key(_fields(data)))


def local_fingerprint(cache_folder: Path, records: Callable[[], Iterable[Record]]) -> Fingerprint:
    """Answer from the corpus on disk, else the records of finished runs, else the catalogue, else None.

    Fetches nothing. `records` is called only where the corpus is not on disk.
    """
    from ablatable.data.corpora import local_fingerprint as on_disk

    recorded = cache(lambda: recorded_fingerprint(records()))

    def answer(data: Data) -> str | None:
        found = on_disk(data, cache_folder) or recorded()(data)
        return found or CORPORA[data.corpus].fingerprint

    return cache(answer)


_NAMING = {f.name: getattr(Data(), f.name) for f in fields(Data) if f.name == "corpus" or f.name.startswith("files_")}
"""The settings that say which text is meant, with their defaults (a record leaves out what is inactive).

How much of the text is used doesn't change its fingerprint."""


def _fields(data: Data) -> dict[str, object]:
    return {name: getattr(data, name) for name in _NAMING}


def _key(data: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(data.get(name, default) for name, default in _NAMING.items())
