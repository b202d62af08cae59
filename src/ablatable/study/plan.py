"""What a table will take: its runs, which are done, what the rest costs. Trains and fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ablatable.config.dump import is_active
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaves, value_at
from ablatable.record.schema import Record
from ablatable.record.store import Store
from ablatable.study.estimate import Cost, Speed, cost_of, speed_for
from ablatable.study.schema import Row, RowRuns, Study
from ablatable.study.status import RunState, states
from ablatable.study.tuning.schema import SHARED, Tuning

if TYPE_CHECKING:
    from ablatable.study.tuning.outcome import Searched
    from ablatable.study.tuning.status import SearchState


@dataclass(frozen=True)
class PlannedRow:
    """One row: what it changes at this scale, what one of its runs costs, and where its runs stand."""

    row: str
    group: str | None
    changes: dict[str, Any]
    cost: Cost
    seconds: float
    """Device time of one run: the mean of its finished runs, else FLOPs over the plan's speed."""
    measured: bool
    runs: tuple[RunState, ...]
    trained_by: str | None = None
    """The row whose training serves this one, because they differ only in what is done with the weights; it costs
    nothing then. The id of the run, where it belongs to another table."""
    search: SearchState | None = None
    """The row's search, where it has one of its own."""
    trial_seconds: float = 0.0
    """Device time of one trial: the mean of those that ended, else as one of its runs."""
    tuned: dict[str, Any] | None = None
    """The settings a search chose; None before that, and where nothing is tuned."""

    @property
    def unfinished(self) -> int:
        """Runs that `ablatable run` will start: neither finished nor failed."""
        return sum(run.state not in ("completed", "failed", "pruned") for run in self.runs)

    @property
    def trials_to_do(self) -> int:
        """Trials that `ablatable run` will start."""
        return 0 if self.search is None else max(0, self.search.trials - self.search.ended)


@dataclass(frozen=True)
class Totals:
    """Sums over runs."""

    runs: int
    flops: float
    seconds: float
    disk_bytes: int


@dataclass(frozen=True)
class Plan:
    """A table's runs and what they take. `provisional`: the corpus was never fetched, so ids may change."""

    study: str
    title: str
    scale: str
    baseline: str
    seeds: int
    vocabulary: int
    rows: tuple[PlannedRow, ...]
    speed: Speed
    corpus: str
    provisional: bool
    absent: tuple[Row, ...] = ()
    """Rows of the study that do not exist at this scale."""
    tuning: str = SHARED
    """How the rows are tuned."""

    @property
    def distinct_runs(self) -> int:
        """Runs with an id of their own; a run two tables share counts in both, and trains once."""
        return len({run.id for row in self.rows for run in row.runs})

    @property
    def everything(self) -> Totals:
        """All runs, finished or not."""
        return _sum(self.rows, [len(row.runs) for row in self.rows], lambda row: row.seconds)

    @property
    def to_do(self) -> Totals:
        """The runs still to be trained."""
        return _sum(self.rows, [row.unfinished for row in self.rows], lambda row: row.seconds)

    @property
    def trials(self) -> Totals:
        """The trials of all searches, ended or not; one may be a run of the table as well."""
        counts = [0 if row.search is None else row.search.trials for row in self.rows]
        return _sum(self.rows, counts, lambda row: row.trial_seconds)

    @property
    def trials_to_do(self) -> Totals:
        """The trials still to be run."""
        return _sum(self.rows, [row.trials_to_do for row in self.rows], lambda row: row.trial_seconds)


def plan_study(
    study: Study,
    scale: str,
    rows: Sequence[RowRuns],
    store: Store,
    *,
    device: str | None = None,
    baseline: str | None = None,
    provisional: bool = False,
    trained_by: Mapping[str, str] | None = None,
    searches: Mapping[str, Searched] | None = None,
) -> Plan:
    """Price a study's resolved rows.

    Args:
        study: the table.
        scale: name of the scale the rows were resolved at.
        rows: from :func:`ablatable.study.resolve.resolve`.
        store: where finished runs are looked for.
        device: price with this device's stated speed (a key of `estimate.STATED_SPEEDS`).
        baseline: name of the baseline where it isn't the study's own.
        provisional: whether the corpus, and so the ids, are not yet known.
        trained_by: runs that take another's weights, from :func:`ablatable.study.families.shared_trainings`.
        searches: of a tuned study, by the row that is searched.

    Raises:
        InputError: a record is corrupted.
    """
    base = next(row.experiments[0] for row in rows if row.row == study.baseline_row)
    standing = {run.id: run for run in states(rows, store)}
    finished = _finished(store, standing.values())
    speed = speed_for(base, scale, finished.values(), device)
    trainers = [_trainer(row, rows, trained_by or {}) for row in rows]
    return Plan(
        study=study.name,
        title=study.title,
        scale=scale,
        baseline=baseline or study.baseline,
        seeds=len(rows[0].ids),
        vocabulary=base.tokenizer.most_pieces,
        rows=tuple(
            _with_search(
                _planned(row, base, standing, finished, speed, trainer, study.tuning),
                row,
                (searches or {}).get(row.row.name),
                store,
                speed,
            )
            for row, trainer in zip(rows, trainers, strict=True)
        ),
        speed=speed,
        corpus=base.data.corpus,
        provisional=provisional,
        absent=study.absent(scale),
        tuning=SHARED if study.tuning is None else study.tuning.said,
    )


def _finished(store: Store, runs: Any) -> dict[str, Record]:
    found = {run.id: store.read(run.id) for run in runs if run.state == "completed"}
    return {id: record for id, record in found.items() if record is not None}


def _planned(
    row: RowRuns,
    base: Experiment,
    standing: dict[str, RunState],
    finished: dict[str, Record],
    speed: Speed,
    trained_by: str | None,
    tuning: Tuning | None,
) -> PlannedRow:
    cost = cost_of(row.experiments[0])
    if trained_by is not None:
        cost = replace(cost, source_tokens=0, target_tokens=0, flops=0.0)
    done = [finished[id] for id in row.ids if id in finished]
    # A run that only searched says nothing of one that trains.
    measured = [record.device_seconds for record in done if (record.trained_by is None) == (trained_by is None)]
    return PlannedRow(
        row=row.row.name,
        group=row.row.group,
        changes=_declared(changes(base, row.experiments[0]), row.row, tuning),
        cost=cost,
        seconds=sum(measured) / len(measured) if measured else cost.flops / speed.flops_per_second,
        measured=bool(measured),
        runs=tuple(standing[id] for id in row.ids),
        trained_by=trained_by,
    )


def _declared(changed: dict[str, Any], row: Row, tuning: Tuning | None) -> dict[str, Any]:
    """What the row is about: not the settings that its search, or the baseline's, chose."""
    tuned = () if tuning is None else tuning.axes
    return {path: value for path, value in changed.items() if path not in tuned or path in row.changes}


def _with_search(
    planned: PlannedRow, row: RowRuns, searched: Searched | None, store: Store, speed: Speed
) -> PlannedRow:
    """The same row, with what is known of its search."""
    tuned = None if row.tuned is None else dict(row.tuned.settings)
    if searched is None:
        return replace(planned, tuned=tuned)
    from ablatable.study.tuning.status import search_states

    (state,) = search_states({row.row.name: searched}, store)
    took = [trial.device_seconds for trial in searched.counted if trial.ended and trial.device_seconds > 0]
    alone = cost_of(row.experiments[0]).flops / speed.flops_per_second
    return replace(planned, search=state, trial_seconds=sum(took) / len(took) if took else alone, tuned=tuned)


def _trainer(row: RowRuns, rows: Sequence[RowRuns], trained_by: Mapping[str, str]) -> str | None:
    """The row that trains for this one, or the run of another table."""
    if not all(id in trained_by for id in row.ids):
        return None
    trainer = trained_by[row.ids[0]]
    return next((other.row.name for other in rows if trainer in other.ids), trainer)


def changes(base: Experiment, other: Experiment) -> dict[str, Any]:
    """The settings in which an experiment differs from the baseline, by dotted path, seed aside.

    What means nothing under its other choices (d_ff where there is no feed-forward sub-layer) is left out.
    """
    return {
        path: value_at(other, path)
        for path in leaves()
        if path != "seed" and value_at(other, path) != value_at(base, path) and is_active(other, path)
    }


def _sum(rows: Sequence[PlannedRow], counts: Sequence[int], seconds: Callable[[PlannedRow], float]) -> Totals:
    """So many runs of each row, each of them taking that long."""
    pairs = list(zip(rows, counts, strict=True))
    return Totals(
        runs=sum(counts),
        flops=sum(row.cost.flops * n for row, n in pairs),
        seconds=sum(seconds(row) * n for row, n in pairs),
        disk_bytes=sum(row.cost.disk_bytes * n for row, n in pairs),
    )
