"""The trials of a study's searches, shown as its runs are: what ended, what runs, and the time left for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ablatable.launch.local import Progress
from ablatable.launch.outcome import Ended, Queued
from ablatable.launch.sweep_progress import Trials, ended_line
from ablatable.launch.trial import Finished, Running
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.study.estimate import cost_of
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.plan import example
from ablatable.study.tuning.outcome import Searched
from ablatable.study.tuning.search import Search


class Shown:
    """All searches of one launch in one view. A trial that is yet to come stands for itself with its row's cost."""

    def __init__(self, progress: Progress, searches: Sequence[Searched]) -> None:
        self._progress = progress
        self._waiting = {searched.search.name: _to_come(searched) for searched in searches}

    def begin(self, slots: int) -> None:
        """Open the view."""
        self._progress.begin([queued for waiting in self._waiting.values() for queued in waiting], slots)

    def of(self, search: Search) -> _OfRow:
        """What one search tells its trials to."""
        return _OfRow(self._progress, search, self._waiting[search.name])


class _OfRow:
    """The trials of one row."""

    def __init__(self, progress: Progress, search: Search, waiting: list[Queued]) -> None:
        self._progress = progress
        self._search = search
        self._waiting = waiting
        self._taken: dict[int, Queued] = {}

    def begin(self, plan: Plan, workers: int) -> None:
        """All searches begin together."""

    def began(self, run: Running) -> None:
        """Give it one of the places of the trials to come; one more than those where a point was impossible."""
        place = self._waiting.pop(0) if self._waiting else Queued(run.job, cost_of(run.job.experiment).flops)
        self._taken[run.claimed.number] = replace(place, job=replace(run.job, id=place.job.id))

    def started(self, run: Running) -> None:
        """A process was forked for it."""
        self._progress.started(self._taken[run.claimed.number])

    def ended(self, run: Running, finished: Finished) -> None:
        """It ended: say with what."""
        queued = self._taken.pop(run.claimed.number)
        seconds = sum(record.wall_seconds for record in finished.records)
        said = ended_line(self._search.plan, run, finished).partition(": ")[2]
        point = ", ".join(
            f"{path}={value:.4g}" if isinstance(value, float) else f"{path}={value}"
            for path, value in run.claimed.point.items()
        )
        state = "crashed" if finished.state == "skipped" else finished.state
        cause = f"{said}; {point}" if finished.state == "completed" else f"{finished.cause}; {point}"
        self._progress.ended(Ended(queued, state, cause, seconds))

    def tick(self, trials: Trials) -> None:
        """Draw the view again."""
        self._progress.tick()

    def close(self) -> None:
        """All searches end together."""


def _to_come(searched: Searched) -> list[Queued]:
    search = searched.search
    one = example(search.plan)
    count = max(0, search.asked - searched.ended)
    job = Job(one, "", Labels(row=search.row.name), Path(), Path())
    return [Queued(replace(job, id=f"{search.name} {place}"), cost_of(one).flops) for place in range(count)]
