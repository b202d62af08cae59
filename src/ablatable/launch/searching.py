"""One search under way in this process: it takes trials from its desk, listens to their runs, tells how they ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ablatable.config.identity import run_id
from ablatable.config.locate import cache_folder
from ablatable.launch.heart import Heart
from ablatable.launch.local import EXECUTE, PREPARE
from ablatable.launch.slots import Slot
from ablatable.launch.sweep_progress import SweepProgress
from ablatable.launch.trial import Finished, Running
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.record.store import Store
from ablatable.study.resolve import Fingerprint
from ablatable.study.sweep.claim import Claimed, Desk, Nothing
from ablatable.study.sweep.keeper import Keeper, open_study
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.samplers import waits_for_results
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


class Searching:
    """One sweep, as far as this process runs it.

    Args:
        plan: the sweep.
        keeper: of its storage, which the caller closes.
        store: of the runs.
        progress: shows its trials.
        in_order: begin no trial whose point depends on one that still runs, so that the search repeats exactly.
        changed: told whenever a trial began or ended.
        described: a run of the trial of that number, as it is called where the search belongs to a table.
    """

    def __init__(
        self,
        plan: Plan,
        keeper: Keeper,
        store: Store,
        progress: SweepProgress,
        *,
        in_order: bool = False,
        changed: Callable[[Sequence[Tried]], None] | None = None,
        described: Callable[[Job, int], Job] | None = None,
    ) -> None:
        self.plan = plan
        self.running: list[Running] = []
        self.nothing: Nothing | None = None
        """Why no further trial begins; None: one may."""
        self._keeper = keeper
        self._store = store
        self._progress = progress
        self._in_order = in_order
        self._changed = changed
        self._described = described
        self._looked = 0.0
        self._heart = Heart(keeper, self.running)

    def open(self, corpus: str, fingerprint: Fingerprint) -> None:
        """Open the storage, once the corpus is there.

        Raises:
            InputError: it holds another search of this name.
        """
        study = open_study(self._keeper, self.plan, corpus)
        self._desk = Desk(self._keeper, study, self.plan, lambda one: run_id(one, fingerprint(one.data)))
        self._tell()

    def __enter__(self) -> Self:
        self._heart.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heart.__exit__(kind, error, trace)

    @property
    def done(self) -> bool:
        """Whether nothing is left to begin and nothing runs, here or elsewhere."""
        return not self.running and self.nothing is not None and not self.nothing.running

    @property
    def why(self) -> str:
        """Why it began no other trial."""
        return "stopped" if self.nothing is None else self.nothing.why

    def trials(self) -> list[Tried]:
        """Everybody's trials."""
        return self._desk.trials()

    def check(self) -> None:
        """Raise what ended the signs of life."""
        self._heart.check()

    def begin(self, slot: Slot) -> bool:
        """Take the next trial and give it the slot; False: there is none now."""
        if self.nothing is not None and time.monotonic() - self._looked < _LOOK_SECONDS:
            return False
        if self._in_order and self.running and waits_for_results(self.plan.sweep.sampler, len(self.trials())):
            return False
        self._looked = time.monotonic()
        claimed = self._desk.claim()
        if isinstance(claimed, Nothing):
            self.nothing = claimed
            return False
        self.nothing = None
        self._begin(claimed, slot)
        return True

    def _begin(self, claimed: Claimed, slot: Slot) -> None:
        sweep = self.plan.sweep
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
        if self._described is not None:
            jobs = [self._described(job, claimed.number) for job in jobs]
        run = Running(claimed, jobs, slot, self._store, takes_pruned=sweep.pruner.kind != "none")
        run.reported = self._desk.reported(claimed)
        self.running.append(run)
        self._tell()
        self._progress.began(run)

    def advance(self, run: Running, start: Callable[[Running], None]) -> Slot | None:
        """Do what is due of a trial; gives back its slot where it ended."""
        due = run.due()
        if isinstance(due, Job):
            start(run)
            self._progress.started(run)
            return None
        return None if due is None else self._finish(run, due)

    def listen(self, run: Running) -> Slot | None:
        """Report new validations, ask whether to prune, see whether the process has ended: then its slot is free."""
        self._report(run, run.validations())
        if run.process is not None and not run.process.alive:
            finished = run.ended()
            if finished is not None:
                return self._finish(run, finished)
        return None

    def tick(self) -> None:
        """Some time passed."""
        self._progress.tick(self._desk.trials)

    def _report(self, run: Running, validations: Sequence[tuple[int, float]]) -> None:
        """The development NLL by update, negated where the objective is to rise; a step is told once."""
        sweep = self.plan.sweep
        sign = 1.0 if sweep.objectives[0].direction == "lower" else -1.0
        if len(sweep.objectives) > 1:
            return
        for update, nll in validations:
            if update <= run.reported:
                continue
            run.reported = update
            prune = self._desk.report(run.claimed, update, sign * nll)
            if prune and run.wish is None and run.process is not None:
                run.prune(f"stopped by the pruner {sweep.pruner.kind} at update {update}: valid.nll {nll:.4f}")

    def _finish(self, run: Running, finished: Finished) -> Slot:
        self.running.remove(run)
        if finished.records:
            curve = finished.records[0].curve
            self._report(run, [(point.update, point.valid_nll) for point in curve if point.valid_nll is not None])
        self._desk.finish(run.claimed, *verdict(self.plan.sweep, finished.state, finished.cause, finished.records))
        self._tell()
        self._progress.ended(run, finished)
        return run.slot

    def give_back(self) -> None:
        """Let its trials, whose processes were stopped, wait for whoever comes next."""
        for run in self.running:
            self._desk.give_back(run.claimed)
        self.running.clear()
        self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed(self._desk.trials())
