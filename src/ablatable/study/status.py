"""Where every run of a table stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ablatable.record.foreign import ForeignRecord
from ablatable.record.store import State, Store
from ablatable.study.schema import Row, RowRuns, Study

if TYPE_CHECKING:
    from ablatable.study.tuning.outcome import Searched
    from ablatable.study.tuning.status import SearchState

STATES: tuple[State, ...] = ("completed", "running", "failed", "pruned", "interrupted", "missing")
"""In the order they are counted and listed."""


@dataclass(frozen=True)
class RunState:
    """One run of a row: where it stands, and why it isn't finished."""

    row: str
    seed: int
    id: str
    state: State
    cause: str | None


@dataclass(frozen=True)
class StudyStatus:
    """Every run of a table at one scale."""

    study: str
    scale: str
    runs: tuple[RunState, ...]
    absent: tuple[Row, ...] = ()
    """Rows of the study that do not exist at this scale."""
    searches: tuple[SearchState, ...] = ()
    """Of a tuned study."""
    imported: Mapping[str, Sequence[ForeignRecord]] = field(default_factory=dict[str, Sequence[ForeignRecord]])
    """What was imported, by row, for those that are. They count among no state: nothing is run for them."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of runs in each state, states without runs included."""
        found = Counter(run.state for run in self.runs)
        return {state: found[state] for state in STATES}


def states(rows: Sequence[RowRuns], store: Store) -> tuple[RunState, ...]:
    """Where each run of these rows stands, row by row, seed by seed.

    Raises:
        InputError: a record is corrupted.
    """
    return tuple(
        RunState(row.row.name, experiment.seed, id, *_standing(store, id, row))
        for row in rows
        for experiment, id in zip(row.experiments, row.ids, strict=True)
    )


def _standing(store: Store, id: str, row: RowRuns) -> tuple[State, str | None]:
    if row.awaits is not None:
        return "failed" if row.search_failed else "missing", row.awaits
    status = store.status(id)
    return status.state, status.cause


def study_status(
    study: Study,
    scale: str,
    rows: Sequence[RowRuns],
    store: Store,
    searches: Mapping[str, Searched] | None = None,
    imported: Mapping[str, Sequence[ForeignRecord]] | None = None,
) -> StudyStatus:
    """Gather the states of a study's searches and runs, and what was imported."""
    return StudyStatus(
        study.name, scale, states(rows, store), study.absent(scale), _searches(searches, store), imported or {}
    )


def _searches(searches: Mapping[str, Searched] | None, store: Store) -> tuple[SearchState, ...]:
    if not searches:
        return ()
    from ablatable.study.tuning.status import search_states

    return search_states(searches, store)


def to_json(status: StudyStatus) -> dict[str, Any]:
    """The status as data for scripts."""
    return {
        "study": status.study,
        "scale": status.scale,
        "counts": status.counts,
        "runs": [asdict(run) for run in status.runs],
        "absent": [{"row": row.name, "cause": row.absence(status.scale)} for row in status.absent],
        "imported": [
            {"row": name, "seed": record.seed, "id": record.id, "from": asdict(record.origin), "cause": record.cause}
            for name, records in status.imported.items()
            for record in records
        ],
        "searches": [asdict(one) for one in status.searches],
    }


def to_text(status: StudyStatus) -> str:
    """The status as a person reads it: the counts, then each run that isn't finished, with its cause."""
    counts = ", ".join(f"{n} {state}" for state, n in status.counts.items() if n)
    lines = [f"{status.study} at scale {status.scale}: {len(status.runs)} runs: {counts}"]
    if status.searches:
        from ablatable.study.tuning.status import counted, line

        lines += [f"\nsearches: {counted(status.searches)}", *(f"  {line(one)}" for one in status.searches)]
    for state in STATES:
        runs = [run for run in status.runs if run.state == state]
        if runs:
            lines.append(f"\n{state}")
            lines += [f"  {run.id}  {run.row}, seed {run.seed}{_cause(run)}" for run in runs]
    lines += _imported(status)
    if any(one.state != "finished" for one in status.searches):
        lines.append(
            "\nThe settings of rows without a finished search are open, and the ids of their runs provisional."
        )
    lines += [f"\nhole: {row.name}: {row.absence(status.scale)}" for row in status.absent]
    return "\n".join(lines)


def _imported(status: StudyStatus) -> list[str]:
    runs = [
        f"  {record.id}  {name}, seed {record.seed}: from {'; '.join(filter(None, (record.origin.said, record.cause)))}"
        for name, records in status.imported.items()
        for record in records
    ]
    empty = [f"\nhole: {name}: nothing imported for it" for name, records in status.imported.items() if not records]
    return [*(["\nimported", *runs] if runs else []), *empty]


def _cause(run: RunState) -> str:
    return f": {run.cause}" if run.cause and run.state in ("failed", "pruned", "interrupted") else ""
