"""The store: ``root/<id>/record.json``. The only reader and writer of records."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ablatable.errors import InputError, RunFailed
from ablatable.record.files import write_atomic
from ablatable.record.locks import is_held, lock_file, take
from ablatable.record.schema import RECORD, Record
from ablatable.record.upgrade import upgraded_json

RECORD_FILE = "record.json"
EVENTS_FILE = "events.jsonl"
LOCK_FILE = "lock"

State = Literal["completed", "failed", "pruned", "running", "interrupted", "missing"]

_LOCK_PATIENCE_SECONDS = 0.5
"""`status` holds a shared lock for microseconds; a runner that meets it tries again for this long."""


@dataclass(frozen=True)
class RunStatus:
    """Where a run stands. ``cause`` says why it failed or was pruned, or why there is no record yet."""

    state: State
    cause: str | None = None


class Store:
    """The runs under one folder (``runs/``). Making a Store touches nothing on disk.

    A record is parsed once, and again when its file changes: tables ask for the same thousand several times.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, tuple[tuple[int, int, int], Record]] = {}

    def folder(self, id: str) -> Path:
        """The run's own folder, which may not exist yet."""
        return self.root / id

    def write_record(self, record: Record) -> Path:
        """Write a run's record at once and last. Raises RunFailed when the disk is full."""
        path = self.folder(record.id) / RECORD_FILE
        write_atomic(path, encode_record(record))
        return path

    def read(self, id: str) -> Record | None:
        """The run's record, None when it has none. Raises InputError when the file is corrupted."""
        path = os.path.join(self.root, id, RECORD_FILE)
        try:
            with open(path, "rb") as file:
                found = os.fstat(file.fileno())
                state = (found.st_ino, found.st_mtime_ns, found.st_size)
                if id in self._read and self._read[id][0] == state:
                    return self._read[id][1]
                text = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        remedy = f"move {self.folder(id)} away or delete it, and run it again"
        record = decode_record(text, path, remedy)
        if record.id != id:
            raise InputError(f"{path} holds the record of run {record.id}, not of {id}: {remedy}")
        self._read[id] = (state, record)
        return record

    def ids(self) -> list[str]:
        """Every run folder's name, sorted."""
        try:
            with os.scandir(self.root) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
        except FileNotFoundError:
            return []

    def records(self) -> list[Record]:
        """Every record, ordered by id. Raises InputError for the first corrupted one."""
        found = (self.read(id) for id in self.ids())
        return [record for record in found if record is not None]

    def intact(self) -> Iterator[Record]:
        """Every record that can be read, ordered by id: a damaged one concerns only those who ask for that run."""
        for id in self.ids():
            with contextlib.suppress(InputError):
                record = self.read(id)
                if record is not None:
                    yield record

    def status(self, id: str) -> RunStatus:
        """Where the run stands. A held lock outranks an earlier failure: that run is being repeated."""
        record = self.read(id)
        if record is not None and record.status == "completed":
            return RunStatus("completed")
        if self.locked(id):
            return RunStatus("running")
        if record is not None:
            return RunStatus(record.status, record.cause)
        if (self.folder(id) / EVENTS_FILE).exists():
            return RunStatus("interrupted", "it was stopped before it finished; run again to resume it")
        return RunStatus("missing", "not run yet")

    def locked(self, id: str) -> bool:
        """Whether some process holds the run's lock."""
        return is_held(self.folder(id) / LOCK_FILE)

    @contextlib.contextmanager
    def lock(self, id: str) -> Generator[None, None, None]:
        """Hold the run, creating its folder. The kernel frees the lock however the process dies.

        Raises RunFailed when another process holds it.
        """
        with lock_file(self.folder(id) / LOCK_FILE) as handle:
            _acquire(handle, id)
            yield


def _acquire(handle: int, id: str) -> None:
    deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
    while not take(handle):
        if time.monotonic() > deadline:
            raise RunFailed(f"run {id} is being trained by another process; wait for it or stop it, then run again")
        time.sleep(0.02)


def encode_record(record: Record) -> str:
    """The record as readable JSON with sorted keys and a final newline. Equal records give equal text."""
    content = json.loads(RECORD.dump_json(record))  # which writes what is not finite as null
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def decode_record(text: bytes, where: str, remedy: str) -> Record:
    """Read a record of any schema version. Raises InputError naming the place, the fault and the remedy."""
    try:
        # The field has a default for those who make records; a file must state it.
        if b'"schema_version"' in text:
            return RECORD.validate_json(text)
        fault = "it states no schema_version"
    except ValidationError as error:
        fault = _fault(error)
    try:
        newer = upgraded_json(text)
        if newer is not None:
            return RECORD.validate_json(newer)
    except ValidationError as error:
        fault = _fault(error)
    except ValueError as error:
        fault = "it is not JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)
    raise InputError(f"{where} is not a readable record ({fault}): {remedy}")


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
