"""A line of the list: a run with a record, one without, one whose record is damaged, or one that was imported."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ablatable.config.locate import display
from ablatable.config.yaml_file import read
from ablatable.errors import InputError
from ablatable.record.events import read_events
from ablatable.record.foreign import ForeignRecord, is_foreign, origin_of, read_foreign
from ablatable.record.schema import Labels, Record
from ablatable.record.store import EVENTS_FILE, State, Store
from ablatable.study.records_file import IMPORTED_FILE, RECORDS_FILE, read_imported, read_records

Status = State | Literal["damaged", "imported"]

STATUSES: tuple[Status, ...] = ("completed", "running", "failed", "pruned", "interrupted", "damaged", "imported")
"""In the order they are explained."""

CONFIG_FILE = "config.yaml"


@dataclass(frozen=True)
class Entry:
    """One run. Without a record its labels are not known, and ``updates`` is how far its events say it came.

    A run of another tool is ``foreign``: it has no record and no resolved ``config``.
    """

    id: str
    status: Status
    cause: str | None
    labels: Labels
    config: dict[str, Any]
    updates: int | None
    record: Record | None
    foreign: ForeignRecord | None = None
    folder: Path | None = None

    @property
    def origin(self) -> str | None:
        """Where it was imported from; None for a run made here, or published."""
        if self.foreign is not None:
            return self.foreign.origin.said
        found = None if self.folder is None else origin_of(self.folder)
        return None if found is None else found.said

    @property
    def seed(self) -> int | None:
        """Its seed, where it is known."""
        return self.config.get("seed") if self.foreign is None else self.foreign.seed

    @property
    def order(self) -> tuple[Any, ...]:
        """By study, row, scale and seed; what has no labels last."""
        labels = self.labels
        parts = [(part is None, part or "") for part in (labels.study, labels.row, labels.scale)]
        return (*parts, self.seed or 0, self.id)


def from_store(store: Store) -> list[Entry]:
    """Every run of a runs folder. Folders that hold neither a record nor the events of a run are left out.

    A damaged record is an entry with that cause: it hides nothing else.
    """
    found = (_entry(store, id) for id in store.ids())
    return [entry for entry in found if entry is not None]


def from_published(results: Path) -> list[Entry]:
    """Every published record, once, whatever number of tables it stands in.

    Raises:
        InputError: a damaged file, or no file at all.
    """
    files = sorted(results.glob(f"*/*/{RECORDS_FILE}"))
    if not files:
        raise InputError(f"{display(results)}/ holds no published table; `ablatable publish STUDY` makes one")
    entries: list[Entry] = []
    for path in files:
        for record in read_records(path).values():
            entry = _of_record(record, record.status)
            if entry not in entries:
                entries.append(entry)
        imported = [_of_foreign(run) for run in read_imported(path.with_name(IMPORTED_FILE)).values()]
        entries += [entry for entry in imported if entry not in entries]
    return entries


def _entry(store: Store, id: str) -> Entry | None:
    try:
        if is_foreign(id):
            foreign = read_foreign(store.root, id)
            return None if foreign is None else _of_foreign(foreign)
        record = store.read(id)
        if record is not None and record.status == "completed":
            return _of_record(record, "completed", store.folder(id))
        standing = store.status(id)
    except InputError as error:
        return Entry(id, "damaged", str(error), Labels(), {}, None, None)
    if record is not None:
        return _of_record(record, standing.state, store.folder(id))
    if standing.state == "missing":
        return None
    folder = store.folder(id)
    return Entry(id, standing.state, standing.cause, Labels(), _config(folder), _updates(folder), None)


def _of_record(record: Record, status: Status, folder: Path | None = None) -> Entry:
    return Entry(record.id, status, record.cause, record.labels, record.config, record.updates, record, folder=folder)


def _of_foreign(run: ForeignRecord) -> Entry:
    return Entry(run.id, "imported", run.cause, run.labels, {}, run.updates, None, run)


def _config(folder: Path) -> dict[str, Any]:
    """What the run was asked for; empty where it has not come so far as to write it, or its file is damaged."""
    if (folder / CONFIG_FILE).is_file():
        with contextlib.suppress(InputError):
            return read(folder / CONFIG_FILE).data
    return {}


def _updates(folder: Path) -> int | None:
    """The last update a run told of; None where it told nothing that can be read."""
    with contextlib.suppress(InputError):
        told = [event.get("update") for event in read_events(folder / EVENTS_FILE)]
        return max((update for update in told if isinstance(update, int)), default=0)
    return None
