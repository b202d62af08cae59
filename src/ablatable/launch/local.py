"""The local launcher: one process per run, as many at a time as there are slots, the longest first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Protocol

from ablatable.errors import InputError
from ablatable.launch import server
from ablatable.launch.child import Call
from ablatable.launch.interrupts import Interrupted, Interrupts
from ablatable.launch.outcome import Ended, Outcome, Queued, death_cause
from ablatable.launch.process import TICK_SECONDS, Process, stop, warm_up
from ablatable.launch.slots import Slot
from ablatable.record.schema import Record
from ablatable.record.store import RunStatus, Store

EXECUTE = "ablatable.launch.executed:execute"
PREPARE = "ablatable.training.run:prepare_data"

_HELD_SECONDS = 1.0
_RELEASE_SECONDS = 3.0


class Progress(Protocol):
    """Sees what happens to the runs; never changes it."""

    def begin(self, queued: Sequence[Queued], slots: int) -> None:
        """These runs will be started, at most `slots` at a time."""
        ...

    def started(self, queued: Queued) -> None:
        """A process was forked for the run."""
        ...

    def held(self, queued: Queued) -> None:
        """Another process trains this run; it is waited for."""
        ...

    def ended(self, ended: Ended) -> None:
        """The run ended, one way or another."""
        ...

    def tick(self) -> None:
        """Some time passed (a fraction of a second)."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


def run_jobs(
    queued: Sequence[Queued],
    slots: Sequence[Slot],
    progress: Progress,
    *,
    retry_failed: bool = False,
    preload: Sequence[str] | None = None,
    target: str = EXECUTE,
) -> Outcome:
    """Run every job that has no record yet, each in its own process.

    A run that dies takes no other with it. On SIGINT or SIGTERM the runs are told to stop (they resume when
    run again) and the outcome says so. Call it from the main thread.

    Args:
        queued: Jobs with their costs.
        slots: Where they run.
        progress: Told of everything.
        retry_failed: Run again what has a record that says failed or pruned.
        preload: Modules the server imports once for all; default: what a run needs.
        target: The function called with the job, `module:function`.

    Raises:
        InputError: A record is corrupted; nothing was started.
    """
    if preload is None:
        tracked = any(item.job.experiment.tracking.wandb != "off" for item in queued)
        preload = server.preload_list(wandb=tracked)
    with Interrupts() as interrupts:
        runner = _Runner(slots, progress, interrupts, retry_failed, preload, target)
        runner.plan(queued)
        try:
            runner.loop()
        except Interrupted:
            runner.stop()
        finally:
            progress.close()
    return runner.outcome


@dataclass
class _Running:
    queued: Queued
    slot: Slot
    process: Process
    before: Record | None
    """What an earlier, failed attempt left."""


class _Runner:
    """The state of one call of `run_jobs`."""

    def __init__(
        self,
        slots: Sequence[Slot],
        progress: Progress,
        interrupts: Interrupts,
        retry_failed: bool,
        preload: Sequence[str],
        target: str,
    ) -> None:
        self.outcome = Outcome()
        self._free = list(reversed(slots))
        self._progress = progress
        self._interrupts = interrupts
        self._retry_failed = retry_failed
        self._preload = preload
        self._target = target
        self._waiting: list[Queued] = []
        self._held: list[Queued] = []
        self._held_seen = 0.0
        self._running: list[_Running] = []
        self._warm = False

    def plan(self, queued: Sequence[Queued]) -> None:
        """Put the jobs in order. Reads every record: a corrupted one is found before the first start."""
        for item in queued:
            _status(item)
        self._waiting = sorted(queued, key=lambda item: -item.cost)
        self._progress.begin(self._waiting, len(self._free))

    def loop(self) -> None:
        """Until every run has ended. Raises Interrupted when asked to stop."""
        while self._waiting or self._running or self._held:
            if self._interrupts.number is not None:
                raise Interrupted(self._interrupts.number)
            self._look_at_held()
            while self._free and (ready := self._next()) is not None:
                self._start_or_skip(ready)
            connection.wait([run.process.sentinel for run in self._running], timeout=TICK_SECONDS)
            self._collect()
            self._progress.tick()

    def _next(self) -> Queued | None:
        """The costliest run whose weights nobody else is about to train."""
        training = {item.job.id for item in (*self._waiting, *self._held, *(run.queued for run in self._running))}
        for number, item in enumerate(self._waiting):
            if item.job.trained_by not in training:
                return self._waiting.pop(number)
        return None

    def stop(self) -> None:
        """Stop what runs; what has its record by then counts as what the record says."""
        self.outcome.interrupted_by = self._interrupts.number
        stop([run.process for run in self._running], self._interrupts)
        self._collect()

    def _recorded(self, status: RunStatus) -> bool:
        """Whether the run has the record it was asked for."""
        ended_badly = status.state in ("failed", "pruned")
        return status.state == "completed" or (ended_badly and not self._retry_failed)

    def _start_or_skip(self, item: Queued) -> None:
        status = _status(item)
        if self._recorded(status):
            self._end(_from_record(item, status, skipped=True))
        elif status.state == "running":
            self._held.append(item)
            self._progress.held(item)
        else:
            self._start(item)

    def _start(self, item: Queued) -> None:
        slot = self._free.pop()
        before = _store(item).read(item.job.id)
        call = Call(self._target, (item.job,), item.job.folder / "log.txt", slot.environment())
        if not self._warm:
            warm_up(self._preload, self._interrupts)
            self._warm = True
        self._running.append(_Running(item, slot, Process(call, self._preload), before))
        self._progress.started(item)

    def _look_at_held(self) -> None:
        """Queue again what another process has let go of."""
        if not self._held or time.monotonic() - self._held_seen < _HELD_SECONDS:
            return
        self._held_seen = time.monotonic()
        held, self._held = self._held, []
        for item in held:
            still = _status(item).state == "running"
            (self._held if still else self._waiting).append(item)

    def _collect(self) -> None:
        for run in [run for run in self._running if not run.process.alive]:
            self._running.remove(run)
            self._free.append(run.slot)
            code = run.process.close()
            self._judge(run, code, time.monotonic() - run.process.asked)

    def _judge(self, run: _Running, code: int, seconds: float) -> None:
        """A record written meanwhile says how the run ended, whatever happened to the process after that."""
        process = run.process
        if code != 0 and process.broken is None:
            _await_release(run.queued)
        started = None if process.begun is None else process.begun.at - process.asked
        try:
            status = _status(run.queued)
            written = _store(run.queued).read(run.queued.job.id) != run.before
        except InputError as error:
            self._end(Ended(run.queued, "crashed", str(error), seconds, started))
            return
        if written:
            self._end(_from_record(run.queued, status, seconds=seconds, start_seconds=started))
        elif status.state == "running":  # another process was faster to take it
            self._held.append(run.queued)
            self._progress.held(run.queued)
        elif self._interrupts.number is not None:
            self._end(Ended(run.queued, "interrupted", "stopped; run again to resume it", seconds, started))
        else:
            cause = death_cause(code) if process.broken is None else str(process.broken)
            self._end(Ended(run.queued, "crashed", cause, seconds, started))

    def _end(self, ended: Ended) -> None:
        self.outcome.ended.append(ended)
        self._progress.ended(ended)
        if ended.state == "crashed":
            self._end_followers(ended)

    def _end_followers(self, crashed: Ended) -> None:
        """They would each train what has just crashed."""
        for item in [item for item in self._waiting if item.job.trained_by == crashed.job.id]:
            self._waiting.remove(item)
            self._end(Ended(item, "crashed", f"{crashed.queued.name} trains for it and crashed: {crashed.cause}"))


def _store(item: Queued) -> Store:
    return Store(item.job.folder.parent)


def _status(item: Queued) -> RunStatus:
    return _store(item).status(item.job.id)


def _await_release(item: Queued) -> None:
    """After a violent death: the kernel may still be at work on a process that holds the run's lock."""
    deadline = time.monotonic() + _RELEASE_SECONDS
    while _store(item).locked(item.job.id) and time.monotonic() < deadline:
        time.sleep(0.02)


def _from_record(
    item: Queued,
    status: RunStatus,
    *,
    seconds: float = 0.0,
    start_seconds: float | None = None,
    skipped: bool = False,
) -> Ended:
    if status.state not in ("completed", "failed", "pruned"):
        raise RuntimeError(f"{status.state} is not a record's status")
    return Ended(item, status.state, status.cause, seconds, start_seconds, skipped)
