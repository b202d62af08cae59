"""Runs of ours from another machine: published records, or its runs folder. Their identity is checked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablatable.adopt.found import digest_of
from ablatable.adopt.places import Ours
from ablatable.config.dump import from_dict, to_yaml
from ablatable.config.identity import run_id
from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record.files import write_atomic
from ablatable.record.foreign import ForeignRecord, Origin, decode_foreign, write_origin
from ablatable.record.schema import Record
from ablatable.record.store import RECORD_FILE, Store, decode_record
from ablatable.study.records_file import read_imported, read_records

_REMEDY = "get the file again from the machine it is from"
_TRANSLATIONS = "hypotheses.*.txt"


@dataclass(frozen=True)
class Genuine:
    """A record whose id is what its settings give, and its folder where it lies in one."""

    record: Record
    file: Path

    @property
    def folder(self) -> Path | None:
        """The run's own folder on the other machine; None for a published record."""
        return self.file.parent if self.file.name == RECORD_FILE else None


def read(place: Ours) -> tuple[list[Genuine], list[ForeignRecord]]:
    """The records of a source, each once, and what was imported there.

    Raises:
        InputError: a damaged file, or a record that is not what its id says.
    """
    found: dict[str, Genuine] = {}
    for path in place.records:
        for record in _records(path):
            check(record, display(path))
            found.setdefault(record.id, Genuine(record, path))
    foreign: dict[str, ForeignRecord] = {}
    for path in place.foreign:
        foreign |= _foreign(path)
    return list(found.values()), list(foreign.values())


def _records(path: Path) -> Sequence[Record]:
    if path.name == RECORD_FILE:
        return [decode_record(path.read_bytes(), display(path), _REMEDY)]
    return list(read_records(path).values())


def _foreign(path: Path) -> Mapping[str, ForeignRecord]:
    if path.suffix == ".jsonl":
        return read_imported(path)
    record = decode_foreign(path.read_bytes(), display(path), _REMEDY)
    return {record.id: record}


def check(record: Record, where: str) -> None:
    """Refuse a record whose id is not the one its settings, seed and corpus give.

    Raises:
        InputError: edited by hand, or of a version whose settings meant something else.
    """
    experiment = from_dict(record.config, f"{where}, run {record.id}")
    meant = run_id(experiment, record.stamp.corpus_fingerprint)
    if meant != record.id or experiment.seed != record.seed:
        raise InputError(
            f"{where}: run {record.id} is not what its id says: its settings, seed and corpus give {meant} (edited, or "
            f"of another version of ablatable); {_REMEDY}"
        )


def why_left(store: Store, record: Record) -> str | None:
    """Why a record is not taken: there is a run of that id here already. None where there is none."""
    here = store.read(record.id)
    if here == record:
        return "here already"
    if here is not None and here.status == "completed":
        return "completed here already, which stays"
    folder = display(store.folder(record.id))
    if here is not None:
        return f"{here.status} here ({here.cause}), which stays; move {folder} away to take the imported one"
    standing = store.status(record.id)
    if standing.state == "missing":
        return None
    return f"{standing.state} here, which stays; move {folder} away to take the imported one"


def keep(store: Store, one: Genuine, source: Path, imported: str) -> None:
    """Put a record into the runs folder, its translations with it; the record last.

    Raises:
        RunFailed: the disk is full, or another process holds the run.
    """
    record, folder = one.record, store.folder(one.record.id)
    with store.lock(record.id):
        name = source.resolve().name
        origin = Origin(
            "ablatable", name, record.id, record.stamp.packages.get("ablatable"), digest_of([one.file]), imported
        )
        write_origin(folder, origin)
        write_atomic(folder / "config.yaml", to_yaml(from_dict(record.config)))
        for path in sorted(one.folder.glob(_TRANSLATIONS)) if one.folder is not None else []:
            shutil.copyfile(path, folder / path.name)
        store.write_record(record)


def drop(store: Store, id: str) -> None:
    """Take back what `keep` has put there."""
    shutil.rmtree(store.folder(id), ignore_errors=True)
