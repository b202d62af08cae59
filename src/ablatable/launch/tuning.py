"""The searches of a tuned study, before its seeds run: several rows side by side, each an ordinary sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from ablatable.config.locate import runs_folder
from ablatable.launch.local import Progress
from ablatable.launch.searching import Calls, Searching
from ablatable.launch.slots import plan_slots
from ablatable.launch.sweep import Launch
from ablatable.launch.tuning_progress import Shown
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.record.store import Store
from ablatable.study.gather import Expected
from ablatable.study.sweep.keeper import open_keeper
from ablatable.study.sweep.plan import to_prepare
from ablatable.study.sweep.trials import Tried
from ablatable.study.tuning.outcome import Searched
from ablatable.study.tuning.search import Search
from ablatable.study.tuning.trials import Trial, keep


def run_searches(
    found: Expected,
    slots: int | None,
    progress: Progress,
    say: Callable[[str], None],
    calls: Calls,
) -> int | None:
    """Run what the searches of a study lack, and nothing else; gives the signal that stopped it.

    A trial whose point depends on the results before it waits for them, so that a search gives the same settings
    however many run side by side and however often it is killed.

    Args:
        found: the study; its data are there.
        slots: trials at a time, over all searches; None: as many as cores or devices allow.
        progress: shows the trials.
        say: shows a sentence about what comes before them.
        calls: what a trial calls.

    Raises:
        InputError: a storage is damaged.
        RunFailed: the disk is full.
    """
    lacking = [searched for searched in found.searches.values() if not searched.finished]
    if not lacking:
        return None
    store = Store(runs_folder())
    experiments = [one for searched in lacking for one in to_prepare(searched.search.plan)]
    planned = plan_slots((one.runtime for one in experiments), slots)
    rows = f"{len(lacking)} row{'s' if len(lacking) > 1 else ''}"
    say(f"searching the settings of {rows}, {lacking[0].search.tuning.trials} trials each")
    shown = Shown(progress, lacking)
    with ExitStack() as stack:
        searches = [_opened(stack, searched, store, shown, found.study.name) for searched in lacking]
        launch = Launch(searches, planned, say, calls, experiments)
        launch.open()
        with closing(progress):
            shown.begin(len(planned))
            return launch.run()


def _opened(stack: ExitStack, searched: Searched, store: Store, shown: Shown, study: str) -> Searching:
    search = searched.search
    keeper = open_keeper(search.plan.sweep, None)
    stack.callback(keeper.close)
    stack.enter_context(keeper.watched())
    return Searching(
        search.plan,
        keeper,
        store,
        shown.of(search),
        in_order=True,
        changed=lambda trials: keep(search.name, lines(search, trials, store)),
        described=lambda job, number: _described(job, number, search, study),
    )


def _described(job: Job, number: int, search: Search, study: str) -> Job:
    """A trial's run stands with the study's other runs; that it is a trial of which row, its label says."""
    labels = Labels(study, f"{search.row.name}, trial {number}", search.plan.sweep.scale)
    return replace(job, labels=labels, changed=(*search.row.set, *search.axes))


def lines(search: Search, trials: Sequence[Tried], store: Store) -> list[Trial]:
    """A search's trials as tables and plans read them."""
    return [_line(search, trial, store) for trial in trials]


def _line(search: Search, trial: Tried, store: Store) -> Trial:
    records = [record for record in map(store.read, trial.runs) if record is not None]
    return Trial(
        search=search.name,
        row=search.row.name,
        number=trial.number,
        state=trial.state,
        point=dict(trial.point),
        value=trial.values[0] if trial.values else None,
        cause=trial.cause,
        runs=list(trial.runs),
        device_seconds=sum(record.device_seconds for record in records),
        flops=sum(record.flops for record in records),
    )
