"""Every table there is: what it asks, what was published, how many runs it has and how long they take at each scale.

Told from the files alone, with stated speeds, so that the page made of it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ablatable.config.catalogue import CORPORA
from ablatable.config.data import Data
from ablatable.config.identity import training_id
from ablatable.config.locate import known
from ablatable.study.estimate import STATED_SPEEDS, cost_of
from ablatable.study.load import load_study
from ablatable.study.plan_text import duration
from ablatable.study.resolve import resolve
from ablatable.study.schema import Column, Row, RowRuns, Study

SCALES = ("demo", "cpu", "paper")
"""In the order of what they cost."""
_DEVICE = {"paper": "P100"}


@dataclass(frozen=True)
class AtScale:
    """A table at one scale. Rows that differ only after training share one; ``seconds`` are of one device.

    ``trials`` are those of the searches of a tuned table, and among the seconds.
    """

    scale: str
    rows: int
    absent: int
    trainings: int
    seconds: float
    trials: int
    trial_seconds: float


@dataclass(frozen=True)
class Overview:
    """A table and its price."""

    study: Study
    at: tuple[AtScale, ...]


@dataclass(frozen=True)
class Together:
    """All tables at one scale: what one has of another is counted once."""

    scale: str
    rows: int
    runs: int
    trainings: int
    seconds: float
    trials: int


def overviews(scales: Sequence[str] = SCALES) -> tuple[tuple[Overview, ...], tuple[Together, ...]]:
    """Every study in `ablations/` by name, at the scales it allows, and all of them together.

    Raises:
        InputError: a study that cannot be read or resolved.
    """
    studies = [load_study(name) for name in known("ablations")]
    resolved = {
        (study.name, scale): _resolved(study, scale)
        for study in studies
        for scale in scales
        if not study.scales or scale in study.scales
    }
    each = tuple(
        Overview(
            study,
            tuple(
                _at(study, scale, resolved[study.name, scale]) for scale in scales if (study.name, scale) in resolved
            ),
        )
        for study in studies
    )
    return each, tuple(
        _together(
            scale,
            [row for (_, other), rows in resolved.items() if other == scale for row in rows],
            [at for one in each for at in one.at if at.scale == scale],
        )
        for scale in scales
    )


def _fingerprint(data: Data) -> str | None:
    return CORPORA[data.corpus].fingerprint


def _resolved(study: Study, scale: str) -> list[RowRuns]:
    """The rows; those of a tuned table as they are before any search: runs of no other table."""
    rows = resolve(study, scale, 1, _fingerprint)
    if study.tuning is None:
        return rows
    from ablatable.study.tuning.outcome import tune
    from ablatable.study.tuning.search import searches_of

    return tune(rows, searches_of(study, scale, rows, _fingerprint), lambda _: (), _fingerprint)[0]


def _searched(study: Study, rows: Sequence[RowRuns]) -> list[RowRuns]:
    """The rows with a search of their own, each as often as it has trials."""
    if study.tuning is None:
        return []
    own = rows if study.tuning.per == "row" else [row for row in rows if row.row == study.baseline_row]
    return [row for row in own for _ in range(study.tuning.trials)]


def _at(study: Study, scale: str, rows: Sequence[RowRuns]) -> AtScale:
    prices, trials = _prices(rows, scale), _searched(study, rows)
    searching = sum(_price(row, scale) for row in trials)
    seconds = sum(prices.values()) + searching
    return AtScale(scale, len(rows), len(study.absent(scale)), len(prices), seconds, len(trials), searching)


def _together(scale: str, rows: Sequence[RowRuns], tables: Sequence[AtScale]) -> Together:
    prices = _prices(rows, scale)
    return Together(
        scale,
        len(rows),
        len({row.ids for row in rows}),
        len(prices),
        sum(prices.values()) + sum(at.trial_seconds for at in tables),
        sum(at.trials for at in tables),
    )


def _price(row: RowRuns, scale: str) -> float:
    return cost_of(row.experiments[0]).flops / STATED_SPEEDS[_DEVICE.get(scale, "cpu-thread")]


def _prices(rows: Iterable[RowRuns], scale: str) -> dict[str, float]:
    """Device seconds by training."""
    found: dict[str, float] = {}
    for row in rows:
        experiment = row.experiments[0]
        id = row.ids[0] if row.awaits else training_id(experiment, _fingerprint(experiment.data))
        if id not in found:
            found[id] = _price(row, scale)
    return found


def to_json(each: Sequence[Overview], together: Sequence[Together]) -> dict[str, Any]:
    """The overview as data for scripts."""
    return {
        "tables": [
            {
                "study": one.study.name,
                "title": one.study.title,
                "question": one.study.question,
                "source": one.study.source,
                "scales": [asdict(at) for at in one.at],
            }
            for one in each
        ],
        "together": [asdict(one) for one in together],
    }


def to_text(each: Sequence[Overview], together: Sequence[Together]) -> str:
    """A line a table, with its question below it."""
    width = max(len(one.study.name) for one in each)
    lines: list[str] = []
    for one in each:
        said = ", ".join(f"{at.scale} {at.rows} runs{_trials(at)}, {duration(at.seconds)}" for at in one.at)
        lines += [f"{one.study.name.ljust(width)}  {said}", f"{'':{width}}  {one.study.question or one.study.title}"]
    return "\n".join([*lines, "", *(_said_together(one) for one in together), _BASIS])


_BASIS = (
    f"time: training alone, stated and not measured: one CPU thread at {STATED_SPEEDS['cpu-thread'] / 1e12:g} TFLOP/s, "
    f"at the paper's size one P100 at {STATED_SPEEDS['P100'] / 1e12:g}"
)


def _said_together(one: Together) -> str:
    return (
        f"all tables at {one.scale}: {one.rows} rows, {one.runs} distinct runs, {one.trainings} trainings"
        f"{_trials(one)}, {duration(one.seconds)}"
    )


def _cell(one: Together) -> str:
    return f"{one.runs} runs{_trials(one)}, {duration(one.seconds)}"


def _trials(one: AtScale | Together) -> str:
    return f" and {one.trials} trials" if one.trials else ""


def to_markdown(each: Sequence[Overview], together: Sequence[Together]) -> str:
    """The part of `docs/tables.md` that lists the tables."""
    heads = [at.scale for at in together]
    lines = [
        f"| table | question | {' | '.join(heads)} |",
        f"|---|---|{'---|' * len(heads)}",
        *(_summary(one, [at.scale for at in together]) for one in each),
        f"| all, shared runs once | | {' | '.join(_cell(one) for one in together)} |",
    ]
    notes = [
        f"Each cell: runs of one seed, and their device time. {_BASIS[0].upper()}{_BASIS[1:]}. The runs published for "
        "the demo took 1.4 times as long, two at a time on two cores and the search included. Rows that differ only in "
        "search, evaluation or averaging share a training, and a run that several tables ask for is one run.",
        "",
        *(f"- {_said_together(one)}" for one in together),
    ]
    sections = [section for one in each for section in ("", *_section(one))]
    return "\n".join(["", *lines, "", *notes, *sections]) + "\n"


def _summary(one: Overview, scales: Sequence[str]) -> str:
    at = {found.scale: f"{found.rows}{_trials(found)}, {duration(found.seconds)}" for found in one.at}
    question = (one.study.question or one.study.title).replace("|", "\\|")
    return f"| [{one.study.name}](#{one.study.name}) | {question} | {' | '.join(at.get(s, '') for s in scales)} |"


def _section(one: Overview) -> Iterator[str]:
    study = one.study
    yield f"### {study.name}"
    yield ""
    yield f"**{study.title}.** {study.question or ''}".rstrip()
    yield ""
    yield f"Source: {(study.source or 'none').rstrip('.')}."
    reported = list(_reported(study))
    if reported:
        yield ""
        yield from reported
    yield ""
    if study.tuning is not None:
        axes = " and ".join(study.tuning.axes)
        yield f"{study.tuning.said[0].upper()}{study.tuning.said[1:]}: {axes}."
        yield ""
    yield "; ".join(_said_at(at) for at in one.at) + "."


def _said_at(at: AtScale) -> str:
    holes = f" ({at.absent} more at other scales)" if at.absent else ""
    shared = "" if at.trainings == at.rows else f" of {at.trainings} trainings"
    return f"{at.scale}: {at.rows} runs{holes}{shared}{_trials(at)}, {duration(at.seconds)}"


def _reported(study: Study) -> Iterator[str]:
    """Published values, those of the study's own source first."""
    own = [row for row in study.rows if row.reported and row.reported_from is None]
    if own:
        yield f"- reported there: {'; '.join(_values(study, row) for row in own)}"
    for row in study.rows:
        if row.reported_from is not None:
            base = f", its own baseline {_listed(study, row.reported_base)}" if row.reported_base else ""
            yield f"- reported by {row.reported_from}: {_values(study, row)}{base}"


def _values(study: Study, row: Row) -> str:
    return f"{_name(study, row)} {_listed(study, row.reported)}"


def _name(study: Study, row: Row) -> str:
    group = next((group.label for group in study.groups if group.id == row.group), None)
    return (
        f"{row.title} [{group}]" if group and sum(other.title == row.title for other in study.rows) > 1 else row.title
    )


def _listed(study: Study, values: dict[str, float]) -> str:
    columns = {column.reported: column for column in study.columns if column.reported}
    return ", ".join(_published(columns[key], value) for key, value in values.items())


def _published(column: Column, value: float) -> str:
    """A score with its column's digits at least; a fact in whole numbers, without the column's unit."""
    short = column.label.partition(" (")[0]
    if column.better is not None:
        return f"{short} {max(f'{value:.{column.digits}f}', f'{value:g}', key=len)}"
    whole = value * column.divide_by
    return f"{short} {whole:,.0f}" if whole < 1e12 else f"{short} {whole:.2g}"
