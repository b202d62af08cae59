"""What came of the searches: the settings each row's seeds run with, or why there are none yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ablatable.config.schema import Experiment
from ablatable.errors import InputError
from ablatable.record.schema import Record, Tuned
from ablatable.study.resolve import Fingerprint, row_runs
from ablatable.study.schema import RowRuns
from ablatable.study.sweep.space import key
from ablatable.study.tuning.schema import TRIALS_FILE
from ablatable.study.tuning.search import Search, Searches, tuned_settings
from ablatable.study.tuning.trials import Trial

Kept = Callable[[str], Sequence[Trial]]
"""The trials of a search, by its name."""


@dataclass(frozen=True)
class Searched:
    """A search and its trials so far, by number. Which of them wins is a function of these alone."""

    search: Search
    trials: tuple[Trial, ...]

    @property
    def counted(self) -> tuple[Trial, ...]:
        """Those that use the budget, no more than were asked for: impossible points do not count."""
        return tuple(trial for trial in self.trials if trial.state != "skipped")[: self.search.tuning.trials]

    @property
    def ended(self) -> int:
        """How many of those have ended."""
        return sum(trial.ended for trial in self.counted)

    @property
    def finished(self) -> bool:
        """Whether no trial is lacking: as many as were asked for have ended, or every point was tried."""
        if not all(trial.ended for trial in self.counted):
            return False
        tried = {key(trial.point) for trial in self.trials}
        return len(self.counted) >= self.search.tuning.trials or len(tried) == self.search.points

    @property
    def leading(self) -> Trial | None:
        """The best completed trial so far: by the development score alone, of equal ones the earliest."""
        done = [
            (trial.value, trial) for trial in self.counted if trial.state == "completed" and trial.value is not None
        ]
        sign = 1.0 if self.search.tuning.better == "lower" else -1.0
        return min(done, key=lambda pair: (sign * pair[0], pair[1].number))[1] if done else None

    @property
    def best(self) -> Trial | None:
        """The trial whose settings the seeds run with; None before the search is finished, and where none completed."""
        return self.leading if self.finished else None

    @property
    def lacks(self) -> str | None:
        """Why there is no such trial; None where there is."""
        if self.best is not None:
            return None
        if not self.finished:
            return f"not tuned yet: {self.ended} of {self.search.asked} trials"
        causes = [trial.cause for trial in self.trials if trial.cause]
        return f"no trial of its search completed{f': {causes[-1]}' if causes else ''}"


def check(searched: Searched, records: Mapping[str, Record]) -> None:
    """Hold trials to the records of their runs, as far as these are there.

    Args:
        searched: the search.
        records: of its runs, by id.

    Raises:
        InputError: a trial has another value than its run, or its run scored the test set, by which it could have been
            selected.
    """
    for trial in searched.trials:
        for record in (records[id] for id in trial.runs if id in records):
            what = f"search {searched.search.name}, trial {trial.number}: run {record.id}"
            if any(name.startswith("test.") for name in record.metrics):
                raise InputError(
                    f"{what} scored the test set, and a search selects on development data alone; move the search "
                    "away and run the study again"
                )
            found = record.metric(searched.search.tuning.metric)
            if trial.state == "completed" and found != trial.value:
                raise InputError(
                    f"{what} has {searched.search.tuning.metric} {found} and the trial {trial.value}; restore its "
                    f"{TRIALS_FILE}, or move the search away and run the study again"
                )


def tune(
    rows: Sequence[RowRuns], searches: Searches, kept: Kept, fingerprint: Fingerprint
) -> tuple[list[RowRuns], dict[str, Searched]]:
    """Give each row the settings that its search chose.

    Args:
        rows: as they are without tuning.
        searches: of the study.
        kept: what there is of them.
        fingerprint: of a corpus.

    Returns:
        The rows, those that wait for their search with that cause; and the searches by the row that was searched.
    """
    found = {row: Searched(search, tuple(kept(search.name))) for row, search in searches.by_row.items()}
    tuned = [_tuned(row, found[searches.of(row.row.name).row.name], searches, fingerprint) for row in rows]
    return tuned, found


def _tuned(row: RowRuns, searched: Searched, searches: Searches, fingerprint: Fingerprint) -> RowRuns:
    seeds, best = len(row.ids), searched.best
    if best is None:
        return row_runs(
            row.row,
            row.experiments[0],
            seeds,
            fingerprint,
            awaits=searched.lacks,
            search_failed=searched.finished,
        )
    settings = tuned_settings(searches, row.row, best.point)
    experiment: Experiment = replace(searches.grounds[row.row.name].experiment(settings), seed=row.experiments[0].seed)
    provenance = Tuned(searched.search.name, best.number, len(searched.counted), settings)
    return row_runs(row.row, experiment, seeds, fingerprint, tuned=provenance)
