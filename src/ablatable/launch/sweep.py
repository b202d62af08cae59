"""The sweep launcher: several trials at a time, each run a process of its own, the trial owned by this one.

Several of these may work on one sweep at once, on one machine or (with a database) on many: each takes its trials from
the same desk. Killed at any moment, it leaves trials that the next one takes up where their runs were.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing import connection

from ablatable.config.identity import run_id
from ablatable.config.locate import cache_folder, runs_folder
from ablatable.config.schema import Experiment
from ablatable.errors import InputError, RunFailed
from ablatable.launch import server
from ablatable.launch.heart import Heart
from ablatable.launch.interrupts import Interrupted, Interrupts
from ablatable.launch.local import EXECUTE
from ablatable.launch.process import TICK_SECONDS, call_in_child, stop, warm_up
from ablatable.launch.slots import Slot, plan_slots
from ablatable.launch.study import PREPARE
from ablatable.launch.sweep_progress import SweepProgress
from ablatable.launch.trial import Finished, Running
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.record.store import Store
from ablatable.study.fingerprints import local_fingerprint
from ablatable.study.sweep.claim import Claimed, Desk, Nothing
from ablatable.study.sweep.keeper import Keeper, open_keeper, open_study
from ablatable.study.sweep.load import Plan, check_end
from ablatable.study.sweep.plan import to_prepare
from ablatable.study.sweep.trials import Tried
from ablatable.study.sweep.verdict import verdict

_LOOK_SECONDS = 1.0
"""Between two looks at the trials of other processes, when there is nothing to begin."""


@dataclass(frozen=True)
class Calls:
    """What is called in processes of their own, `module:function`; tests of the search itself call something cheap."""

    execute: str = EXECUTE
    prepare: str | None = PREPARE
    preload: tuple[str, ...] | None = None
    """Modules the server imports once; None: what a training needs."""
    heartbeat: int | None = None
    """Seconds between signs of life in a database; None: as the storage has it."""


@dataclass(frozen=True)
class SweepRun:
    """A sweep after a launch: its trials, why no other began, and what stopped it."""

    plan: Plan
    trials: list[Tried]
    why: str
    interrupted_by: int | None = None

    @property
    def exit_code(self) -> int:
        """0: trials are completed or pruned; 1: none is completed; 128 + signal: stopped."""
        if self.interrupted_by is not None:
            return 128 + self.interrupted_by
        return 0 if any(trial.state == "completed" for trial in self.trials) else 1


def run_sweep(
    plan: Plan,
    *,
    storage: str | None,
    workers: int | None,
    trials: int | None,
    progress: SweepProgress,
    say: Callable[[str], None],
    calls: Calls | None = None,
) -> SweepRun:
    """Run a sweep until its budget is used up or its space is tried, together with whoever else does.

    Args:
        plan: the sweep, as it was read.
        storage: URL of a database; None: a journal in `runs/sweeps/<name>`.
        workers: trials at a time; None: as many as cores or devices allow.
        trials: in place of the budget's.
        progress: shows what happens.
        say: shows a sentence about what comes before the trials.
        calls: what a trial and the preparation call.

    Raises:
        InputError: the sweep, its storage or the data don't allow it.
        RunFailed: the data could not be prepared, the disk is full or the storage is gone.
        Interrupted: stopped before the first trial.
    """
    calls = calls or Calls()
    if trials is not None:
        if trials < 1:
            raise InputError(f"--trials {trials}: a sweep has one trial at least")
        plan = replace(plan, sweep=replace(plan.sweep, budget=replace(plan.sweep.budget, trials=trials)))
    check_end(plan.sweep)
    experiments = to_prepare(plan)
    slots = plan_slots((one.runtime for one in experiments), workers)
    keeper = open_keeper(plan.sweep, storage, calls.heartbeat)
    try:
        with keeper.watched():
            return _Launch(plan, keeper, slots, progress, say, calls, experiments).run()
    finally:
        keeper.close()


class _Launch:
    """The state of one call of `run_sweep`."""

    def __init__(
        self,
        plan: Plan,
        keeper: Keeper,
        slots: Sequence[Slot],
        progress: SweepProgress,
        say: Callable[[str], None],
        calls: Calls,
        experiments: Sequence[Experiment],
    ) -> None:
        self._plan = plan
        self._keeper = keeper
        self._free = list(reversed(slots))
        self._slots = len(slots)
        self._progress = progress
        self._say = say
        self._calls = calls
        self._experiments = experiments
        self._store = Store(runs_folder())
        tracked = any(one.tracking.wandb != "off" for one in experiments)
        self._preload = (
            server.preload_list(wandb=tracked) if calls.preload is None else ["ablatable.launch.warm", *calls.preload]
        )
        self._running: list[Running] = []
        self._warm = False
        self._nothing: Nothing | None = None
        self._looked = 0.0

    def run(self) -> SweepRun:
        """Until nothing is left to begin and nothing runs, here or elsewhere."""
        self._fingerprint = local_fingerprint(cache_folder(), self._store.intact)
        if any(self._fingerprint(one.data) is None for one in self._experiments):
            self._prepare()
            self._fingerprint = local_fingerprint(cache_folder(), self._store.intact)
        corpus = self._fingerprint(self._experiments[0].data)
        if corpus is None:
            raise RunFailed(f"corpus {self._experiments[0].data.corpus} was prepared and can't be found again")
        study = open_study(self._keeper, self._plan, corpus)
        self._desk = Desk(self._keeper, study, self._plan, lambda one: run_id(one, self._fingerprint(one.data)))
        interrupted_by: int | None = None
        with Interrupts() as interrupts, ExitStack() as stack:
            stack.callback(self._progress.close)
            self._heart = stack.enter_context(Heart(self._keeper, self._running))
            self._progress.begin(self._plan, self._slots)
            try:
                while self._go_on(interrupts):
                    pass
            except Interrupted as stopped:
                interrupted_by = stopped.number
                self._stop(interrupts)
            except (InputError, RunFailed):
                self._stop(interrupts)
                raise
        why = "stopped" if self._nothing is None else self._nothing.why
        return SweepRun(self._plan, self._desk.trials(), why, interrupted_by)

    def _go_on(self, interrupts: Interrupts) -> bool:
        """Do what is due and wait a moment. False: all is done."""
        if interrupts.number is not None:
            raise Interrupted(interrupts.number)
        self._heart.check()
        self._begin_trials()
        for run in list(self._running):
            self._advance(run, interrupts)
        if not self._running and self._nothing is not None and not self._nothing.running:
            return False
        sentinels = [run.process.sentinel for run in self._running if run.process is not None]
        connection.wait(sentinels, timeout=TICK_SECONDS)
        for run in list(self._running):
            self._listen(run)
        self._progress.tick(self._desk.trials)
        return True

    def _begin_trials(self) -> None:
        while self._free:
            if self._nothing is not None and time.monotonic() - self._looked < _LOOK_SECONDS:
                return
            self._looked = time.monotonic()
            claimed = self._desk.claim()
            if isinstance(claimed, Nothing):
                self._nothing = claimed
                return
            self._nothing = None
            self._begin(claimed)

    def _begin(self, claimed: Claimed) -> None:
        sweep = self._plan.sweep
        labels = Labels(sweep.name, f"trial {claimed.number}", sweep.scale)
        jobs = [
            Job(
                one,
                id,
                labels,
                self._store.folder(id).absolute(),
                cache_folder().absolute(),
                changed=tuple(claimed.point),
            )
            for one, id in zip(claimed.experiments, claimed.ids, strict=True)
        ]
        run = Running(claimed, jobs, self._free.pop(), self._store, takes_pruned=sweep.pruner.kind != "none")
        run.reported = self._desk.reported(claimed)
        self._running.append(run)
        self._progress.began(run)

    def _advance(self, run: Running, interrupts: Interrupts) -> None:
        due = run.due()
        if isinstance(due, Job):
            self._warm_up(interrupts)
            run.start(self._calls.execute, self._preload)
            self._progress.started(run)
        elif due is not None:
            self._finish(run, due)

    def _listen(self, run: Running) -> None:
        """Report new validations, ask whether to prune, and see whether the process has ended."""
        self._report(run, run.validations())
        if run.process is not None and not run.process.alive:
            finished = run.ended()
            if finished is not None:
                self._finish(run, finished)

    def _report(self, run: Running, validations: Sequence[tuple[int, float]]) -> None:
        """The development NLL by update, negated where the objective is to rise; a step is told once."""
        sign = 1.0 if self._plan.sweep.objectives[0].direction == "lower" else -1.0
        if len(self._plan.sweep.objectives) > 1:
            return
        for update, nll in validations:
            if update <= run.reported:
                continue
            run.reported = update
            prune = self._desk.report(run.claimed, update, sign * nll)
            if prune and run.wish is None and run.process is not None:
                run.prune(
                    f"stopped by the pruner {self._plan.sweep.pruner.kind} at update {update}: valid.nll {nll:.4f}"
                )

    def _finish(self, run: Running, finished: Finished) -> None:
        self._running.remove(run)
        self._free.append(run.slot)
        if finished.records:
            curve = finished.records[0].curve
            self._report(run, [(point.update, point.valid_nll) for point in curve if point.valid_nll is not None])
        self._desk.finish(run.claimed, *verdict(self._plan.sweep, finished.state, finished.cause, finished.records))
        self._progress.ended(run, finished)

    def _warm_up(self, interrupts: Interrupts) -> None:
        if not self._warm:
            self._prepare()
            warm_up(self._preload, interrupts)
            self._warm = True

    def _prepare(self) -> None:
        """What all trials read is made before the first of them, in a process of its own."""
        if self._calls.prepare is not None:
            self._say("preparing the data")
            call_in_child(self._calls.prepare, self._experiments, cache_folder(), preload=self._preload)

    def _stop(self, interrupts: Interrupts) -> None:
        stop([run.process for run in self._running if run.process is not None], interrupts)
        for run in self._running:
            self._desk.give_back(run.claimed)
        self._running.clear()
