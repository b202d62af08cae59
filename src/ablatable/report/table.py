"""From a study, its rows' runs and the records to a finished table (pure data, no clock, no disk)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ablatable.config.dump import is_active
from ablatable.config.tree import leaves, value_at
from ablatable.record.foreign import ForeignRecord
from ablatable.record.schema import Record
from ablatable.report import rounding
from ablatable.report.cells import RowRecords, metric_cells
from ablatable.report.footnotes import footnotes
from ablatable.report.imported import imported_note, imported_row
from ablatable.report.model import Block, MetricCell, MetricColumn, SettingColumn, Table, TableRow
from ablatable.report.notes import Notes, row_notes
from ablatable.report.tuning_note import tuned_notes, tuning_footnotes
from ablatable.study.schema import VOCABULARY_METRICS, Column, Row, RowRuns, Study
from ablatable.study.tuning.schema import SHARED

FACTS = ("parameters", "flops", "updates", *VOCABULARY_METRICS)
"""Metrics that follow from settings and text alone."""

if TYPE_CHECKING:
    from ablatable.study.tuning.outcome import Searched


def build_table(
    study: Study,
    rows: Sequence[RowRuns],
    records: Iterable[Record],
    scale: str,
    *,
    searches: Mapping[str, Searched] | None = None,
    imported: Mapping[str, Sequence[ForeignRecord]] | None = None,
) -> Table:
    """Make the table of a study.

    Args:
        study: rows, columns and the paper's values.
        rows: the study's rows resolved at the scale, one run a seed each; the base row is moved to the top. Rows that
            do not exist at the scale become holes with that cause.
        records: any records; those of other runs are ignored. A run without one is a hole.
        scale: the scale's name, for the title and the footnotes.
        searches: of a tuned study, by the row that was searched.
        imported: by row, what was imported for those that say so. It is shown, and takes part in nothing else.
    """
    by_id = {record.id: record for record in records}
    joined = [
        RowRecords(runs, {seed: by_id.get(id) for seed, id in zip(runs.seeds, runs.ids, strict=True)})
        for runs in _in_order(study, rows, scale)
    ]
    columns = [column for column in study.columns if column.metric is not None]
    cells = [metric_cells(study, column, joined) for column in columns]
    notes = Notes()
    settings = _setting_columns(study)
    searched = searches or {}
    finished = [
        (
            row.row,
            _row(
                settings,
                row,
                joined[0],
                tuple(column[i] for column in cells),
                [*row_notes(study, row, scale), *tuned_notes(row.runs, searched.get(row.row.name))],
                notes,
            ),
        )
        for i, row in enumerate(joined)
    ]
    foreign = [
        (row, imported_row(study, settings, row, (imported or {}).get(row.name, ()), notes))
        for row in study.imported(scale)
    ]
    return Table(
        name=study.name,
        scale=scale,
        title=study.title,
        question=study.question,
        source=study.source,
        settings=settings,
        metrics=tuple(_metric_column(study, column) for column in columns),
        blocks=_blocks(study, _ordered(study, [*finished, *foreign])),
        notes=notes.listed,
        tuning=SHARED if study.tuning is None else study.tuning.said,
        footnotes=(
            *footnotes(study, scale, joined, tuning_footnotes(study, joined, searched)),
            *imported_note([row for row, _ in foreign]),
        ),
    )


def _in_order(study: Study, rows: Sequence[RowRuns], scale: str) -> list[RowRuns]:
    """The base row first, then the others as the study has them, those without a run at this scale in their places."""
    places = {row.name: place for place, row in enumerate(study.rows)}
    every = [*rows, *(RowRuns(row, (), ()) for row in study.absent(scale))]
    return sorted(every, key=lambda runs: (runs.row.name != study.baseline_row.name, places[runs.row.name]))


def _metric_column(study: Study, column: Column) -> MetricColumn:
    return MetricColumn(
        label=column.label,
        key=study.metric_key(column),
        digits=column.digits,
        better=column.better,
        has_paper=column.reported is not None and any(column.reported in row.reported for row in study.rows),
        is_fact=column.metric in FACTS,
    )


def _row(
    columns: Sequence[SettingColumn],
    row: RowRecords,
    base: RowRecords,
    cells: tuple[MetricCell, ...],
    said: Sequence[str],
    notes: Notes,
) -> TableRow:
    full = tuple(_setting(column, row) for column in columns)
    same_as_base = tuple(_setting(column, base) for column in columns)
    return TableRow(
        name=row.row.name,
        title=row.row.title,
        is_base=row is base,
        settings=tuple(
            _short(own) if column.tuned else None if row is not base and own in (other, "") else own
            for column, own, other in zip(columns, full, same_as_base, strict=True)
        ),
        full_settings=full,
        cells=cells,
        done=len(row.completed),
        planned=len(row.records),
        markers=tuple(notes.marker(text) for text in said),
        ids=row.runs.ids,
    )


def _short(tuned: str) -> str | None:
    """A searched number has seventeen digits, of which four say something; never blank where it equals the base's."""
    try:
        return f"{float(tuned):.4g}" if "." in tuned else tuned or None
    except ValueError:
        return tuned


def _setting_columns(study: Study) -> tuple[SettingColumn, ...]:
    """Those of the study, and one for each tuned setting that has none."""
    tuned = () if study.tuning is None else tuple(study.tuning.axes)
    own = [SettingColumn(c.label, c.path, c.path in tuned) for c in study.columns if c.path is not None]
    shown = {column.path for column in own}
    return (*own, *(SettingColumn(f"{_label(path)} (tuned)", path, True) for path in tuned if path not in shown))


def _label(path: str) -> str:
    axis = leaves()[path].axis
    return path.rpartition(".")[2] if axis is None else axis.label


def _setting(column: SettingColumn, row: RowRecords) -> str:
    """What a setting column says; nothing for a row that does not exist at this scale, or is not tuned yet."""
    runs = row.runs
    if not runs.experiments or (column.tuned and runs.awaits is not None):
        return ""
    experiment = runs.experiments[0]
    if column.tuned and not is_active(experiment, column.path):
        return rounding.setting(None)
    return rounding.setting(value_at(experiment, column.path))


def _ordered(study: Study, pairs: Sequence[tuple[Row, TableRow]]) -> list[tuple[Row, TableRow]]:
    places = {row.name: place for place, row in enumerate(study.rows)}
    return sorted(pairs, key=lambda pair: (not pair[1].is_base, places[pair[0].name]))


def _blocks(study: Study, pairs: Sequence[tuple[Row, TableRow]]) -> tuple[Block, ...]:
    """Neighbours of one group stand together; a row outside any group stands alone."""
    labels = {group.id: group.label for group in study.groups}
    keys = [row.group or f"\0{i}" for i, (row, _) in enumerate(pairs)]
    found: list[Block] = []
    for key, members in groupby(range(len(pairs)), key=lambda i: keys[i]):
        found.append(Block(labels.get(key, ""), tuple(pairs[i][1] for i in members)))
    return tuple(found)
