"""The sweep launcher: several trials at a time, each run a process of its own, the trial owned by this one.

Several of these may work on one sweep at once, on one machine or (with a database) on many: each takes its trials from
the same desk. Killed at any moment, it leaves trials that the next one takes up where their runs were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from multiprocessing import connection

from ablatable.config.locate import cache_folder, runs_folder
from ablatable.config.schema import Experiment
from ablatable.errors import InputError, RunFailed
from ablatable.launch import server
from ablatable.launch.interrupts import Interrupted, Interrupts
from ablatable.launch.process import TICK_SECONDS, call_in_child, stop, warm_up
from ablatable.launch.searching import Calls, Searching
from ablatable.launch.slots import Slot, plan_slots
from ablatable.launch.sweep_progress import SweepProgress
from ablatable.launch.trial import Running
from ablatable.record.store import Store
from ablatable.study.fingerprints import local_fingerprint
from ablatable.study.sweep.keeper import open_keeper
from ablatable.study.sweep.load import Plan, check_end
from ablatable.study.sweep.plan import to_prepare
from ablatable.study.sweep.trials import Tried


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
            search = Searching(plan, keeper, Store(runs_folder()), progress)
            launch = Launch([search], slots, say, calls, experiments)
            launch.open()
            with closing(progress):
                progress.begin(plan, len(slots))
                interrupted_by = launch.run()
            return SweepRun(plan, search.trials(), search.why, interrupted_by)
    finally:
        keeper.close()


class Launch:
    """Searches that share this machine's slots: each takes a free one in turn."""

    def __init__(
        self,
        searches: Sequence[Searching],
        slots: Sequence[Slot],
        say: Callable[[str], None],
        calls: Calls,
        experiments: Sequence[Experiment],
    ) -> None:
        self._searches = searches
        self._free = list(reversed(slots))
        self._say = say
        self._calls = calls
        self._experiments = experiments
        tracked = any(one.tracking.wandb != "off" for one in experiments)
        self._preload = (
            server.preload_list(wandb=tracked) if calls.preload is None else ["ablatable.launch.warm", *calls.preload]
        )
        self._warm = False

    def open(self) -> None:
        """Open the storages, and make the data before if no corpus is there to name them by.

        Raises:
            InputError: a storage holds another search.
            RunFailed: the data could not be prepared.
        """
        store = Store(runs_folder())
        fingerprint = local_fingerprint(cache_folder(), store.intact)
        if any(fingerprint(one.data) is None for one in self._experiments):
            self._prepare()
            fingerprint = local_fingerprint(cache_folder(), store.intact)
        for search in self._searches:
            data = to_prepare(search.plan)[0].data
            corpus = fingerprint(data)
            if corpus is None:
                raise RunFailed(f"corpus {data.corpus} was prepared and can't be found again")
            search.open(corpus, fingerprint)

    def run(self) -> int | None:
        """Until nothing is left to begin and nothing runs, here or elsewhere; gives the signal that stopped it."""
        with Interrupts() as interrupts, ExitStack() as stack:
            for search in self._searches:
                stack.enter_context(search)
            try:
                while self._go_on(interrupts):
                    pass
            except Interrupted as stopped:
                self._stop(interrupts)
                return stopped.number
            except (InputError, RunFailed):
                self._stop(interrupts)
                raise
        return None

    def _go_on(self, interrupts: Interrupts) -> bool:
        """Do what is due and wait a moment. False: all is done."""
        if interrupts.number is not None:
            raise Interrupted(interrupts.number)
        for search in self._searches:
            search.check()
        self._begin_trials()
        for search, run in self._running():
            self._freed(search.advance(run, lambda run: self._start(run, interrupts)))
        if all(search.done for search in self._searches):
            return False
        sentinels = [run.process.sentinel for _, run in self._running() if run.process is not None]
        connection.wait(sentinels, timeout=TICK_SECONDS)
        for search, run in self._running():
            self._freed(search.listen(run))
        for search in self._searches:
            search.tick()
        return True

    def _running(self) -> list[tuple[Searching, Running]]:
        return [(search, run) for search in self._searches for run in search.running]

    def _begin_trials(self) -> None:
        """A trial of each search in turn, those with the fewest running first, while there are slots."""
        began = True
        while self._free and began:
            began = False
            for search in sorted(self._searches, key=lambda search: len(search.running)):
                if self._free and search.begin(self._free[-1]):
                    self._free.pop()
                    began = True

    def _freed(self, slot: Slot | None) -> None:
        if slot is not None:
            self._free.append(slot)

    def _start(self, run: Running, interrupts: Interrupts) -> None:
        if not self._warm:
            self._prepare()
            warm_up(self._preload, interrupts)
            self._warm = True
        run.start(self._calls.execute, self._preload)

    def _prepare(self) -> None:
        """What all trials read is made before the first of them, in a process of its own."""
        if self._calls.prepare is not None:
            self._say("preparing the data")
            call_in_child(self._calls.prepare, self._experiments, cache_folder(), preload=self._preload)

    def _stop(self, interrupts: Interrupts) -> None:
        stop([run.process for _, run in self._running() if run.process is not None], interrupts)
        for search in self._searches:
            search.give_back()
