"""One trial under way: its runs one after the other, each a process of its own, and what their validations tell."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ablatable.errors import InputError
from ablatable.launch.child import Broken, Call
from ablatable.launch.outcome import death_cause
from ablatable.launch.process import Process
from ablatable.launch.slots import Slot
from ablatable.launch.view import Tail
from ablatable.record.job import Job
from ablatable.record.prune import ask_to_prune
from ablatable.record.schema import Record
from ablatable.record.store import EVENTS_FILE, Store
from ablatable.study.sweep.claim import Claimed
from ablatable.study.sweep.verdict import Ending

_ATTEMPTS = 3
"""Deaths without a record that a run survives: the machine may have been short of memory for a moment."""
_HELD_SECONDS = 1.0


@dataclass(frozen=True)
class Finished:
    """How a trial ended: what its records say. skipped: the data don't allow it."""

    state: Ending
    cause: str | None
    records: tuple[Record, ...] = ()


@dataclass
class Running:
    """A trial that this process runs, in one slot."""

    claimed: Claimed
    jobs: Sequence[Job]
    slot: Slot
    store: Store
    takes_pruned: bool
    """Whether a record that says pruned, written for this sweep, is this trial's; otherwise the run is made whole."""
    records: list[Record] = field(default_factory=list[Record])
    process: Process | None = None
    held: bool = False
    """Another process trains the run; it is waited for."""
    wish: str | None = None
    """Why the run was asked to end early."""
    reported: int = 0
    """The latest update its storage was told of."""
    _before: Record | None = None
    _deaths: int = 0
    _looked: float = 0.0
    _tail: Tail | None = None

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"trial {self.claimed.number}"

    @property
    def job(self) -> Job:
        """The job that is due, or the last one."""
        return self.jobs[min(len(self.records), len(self.jobs) - 1)]

    def due(self) -> Finished | Job | None:
        """How the trial ended, or the job to start now; None: there is something to wait for."""
        if self.process is not None or (self.held and time.monotonic() - self._looked < _HELD_SECONDS):
            return None
        self._looked = time.monotonic()
        while len(self.records) < len(self.jobs):
            status = self.store.status(self.job.id)
            self.held = status.state == "running"
            if self.held:
                return None
            record = self.store.read(self.job.id)
            if record is None or not self._counts(record):
                return self.job
            self.records.append(record)
            if record.status != "completed":
                seed = f"seed {record.seed}: " if len(self.jobs) > 1 else ""
                return Finished(record.status, f"{seed}{record.cause}", tuple(self.records))
        return Finished("completed", None, tuple(self.records))

    def _counts(self, record: Record) -> bool:
        if record.status != "pruned":
            return True
        return self.wish is not None or (self.takes_pruned and record.labels.study == self.job.labels.study)

    def start(self, target: str, preload: Sequence[str]) -> None:
        """Start the job that is due."""
        job = self.job
        self._before = self.store.read(job.id)
        call = Call(target, (job,), job.folder / "log.txt", self.slot.environment())
        self._tail = Tail(job.folder / EVENTS_FILE)
        self.process = Process(call, preload)
        if self.wish is not None:  # the process that was asked has died
            self.prune(self.wish)

    def validations(self) -> list[tuple[int, float]]:
        """(update, NLL) of the first seed's validations since the last call; those of an earlier attempt included."""
        if self._tail is None or self.records:
            return []
        events = [event for event in self._tail.new_events() if event.get("kind") == "valid"]
        return [(int(event["update"]), float(event["nll"])) for event in events if event.get("nll") is not None]

    def prune(self, cause: str) -> None:
        """Ask the running process to end."""
        self.wish = cause
        if self.process is not None:
            ask_to_prune(self.job.folder, self.process.pid, cause)

    def ended(self) -> Finished | None:
        """After the process has ended: how the trial ended with it; None where it goes on.

        Raises:
            RunFailed: what every other run would meet too, such as a full disk.
        """
        process = self.process
        assert process is not None
        self.process = None
        code = process.close()
        try:
            if self.store.read(self.job.id) != self._before:
                return None
        except InputError as error:
            return Finished("failed", str(error))
        if process.broken is not None:
            return self._broken(process.broken)
        self._deaths += 1
        if self._deaths < _ATTEMPTS:
            return None
        return Finished("failed", f"its process died {self._deaths} times without a record: {death_cause(code)}")

    def _broken(self, broken: Broken) -> Finished | None:
        if broken.kind == "InputError":
            return Finished("skipped", broken.message)
        if broken.kind != "RunFailed":
            return Finished("failed", str(broken))
        if not self.store.locked(self.job.id):
            raise broken.error()
        self.held = True  # another process was faster to take it
        return None
