"""A sweep kept in a folder: Optuna's journal, and locks that the kernel drops however a process dies.

Optuna's own file lock is left behind by a killed process and waited for; and a line torn by a kill would spoil every
line after it. Neither can happen here: `flock` ends with its holder, and who takes the lock first cuts off a torn line.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ablatable.errors import InputError
from ablatable.record.files import disk_errors
from ablatable.record.locks import is_held, waited_for

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

JOURNAL_FILE = "journal.log"


class WholeLines:
    """The journal's lock; whoever holds it finds the journal ending with a whole line."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._handle = -1

    def acquire(self) -> bool:
        """Wait for the lock."""
        self._handle = os.open(self._journal.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        _cut_torn_line(self._journal)
        return True

    def release(self) -> None:
        """Let the next one in."""
        os.close(self._handle)


def _cut_torn_line(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        size = end = os.fstat(handle).st_size
        while end > 0 and os.pread(handle, 1, end - 1) != b"\n":
            end -= 1
        if end < size:
            os.ftruncate(handle, end)
    finally:
        os.close(handle)


class JournalKeeper:
    """A sweep in a folder of this machine: `journal.log`, and a locked file for each process that runs trials."""

    def __init__(self, folder: Path) -> None:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        self.heartbeat: int | None = None
        self._folder = folder
        self._owner = uuid.uuid4().hex[:12]
        self._handle = -1
        path = folder / JOURNAL_FILE
        with disk_errors(path):
            folder.mkdir(parents=True, exist_ok=True)
            backend = JournalFileBackend(str(path), lock_obj=cast(Any, WholeLines(path)))  # two methods, all it needs
        try:
            self.storage: BaseStorage = JournalStorage(backend)
        except (ValueError, KeyError, TypeError, AssertionError) as error:
            raise InputError(
                f"{path} is damaged ({type(error).__name__}); move {folder} away and run the sweep again: finished "
                "runs are taken as they are"
            ) from error

    @property
    def owner(self) -> str:
        """This process's name among those that run trials; from the first call on it is known to be alive."""
        if self._handle < 0:
            path = self._owner_file(self._owner)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        return self._owner

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Inside, no other process takes a trial of this sweep."""
        with waited_for(self._folder / "claim.lock"):
            yield

    def dead(self, running: FrozenTrial, owner: str | None) -> bool:
        """Whether the process that runs a trial is gone."""
        return owner is None or not is_held(self._owner_file(owner))

    def beat(self, trial_id: int) -> None:
        """Nothing to do: the owner's lock tells that it lives."""

    @contextmanager
    def watched(self) -> Generator[None]:
        """Around the work of a sweep: says in one sentence that the disk is full."""
        with disk_errors(self._folder):
            yield

    def close(self) -> None:
        """Drop the owner's file: what it ran is finished, or another process takes it over."""
        if self._handle >= 0:
            self._owner_file(self._owner).unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = -1

    def _owner_file(self, owner: str) -> Path:
        return self._folder / "owners" / f"{owner}.lock"
