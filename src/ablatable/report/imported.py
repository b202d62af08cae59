"""Rows of a table whose runs another tool made: shown, marked, and taking part in nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from ablatable.record.foreign import ForeignRecord
from ablatable.report import rounding
from ablatable.report.measures import UNKNOWN
from ablatable.report.model import MetricCell, SettingColumn, TableRow
from ablatable.report.notes import Notes
from ablatable.report.settings import UNTOLD, told
from ablatable.report.statistics import summarise
from ablatable.study.schema import Column, Row, Study

MARK = "(imported)"


def imported_row(
    study: Study, columns: Sequence[SettingColumn], row: Row, records: Sequence[ForeignRecord], notes: Notes
) -> TableRow:
    """One row of imported runs: their means and spreads, no rank, no difference and no test."""
    settings = tuple(_setting(records, column.path) for column in columns)
    return TableRow(
        name=row.name,
        title=f"{row.title} {MARK}",
        is_base=False,
        settings=settings,
        full_settings=settings,
        cells=tuple(_cell(study, row, column, records) for column in study.columns if column.metric is not None),
        done=len(records),
        planned=len(records),
        markers=tuple(notes.marker(text) for text in _notes(study, row, records)),
        ids=tuple(record.id for record in records),
    )


def imported_note(rows: Sequence[Row]) -> list[str]:
    """The footnote of a table that has such rows."""
    if not rows:
        return []
    return [
        f"{MARK}: taken from the logs of another tool. Settings are as told there, {UNKNOWN} where they are not, and "
        "not verified; neither are the text, the pieces and the protocol behind the numbers. These rows are not "
        "ranked, get no difference and no test, and count in no cost."
    ]


def _setting(records: Sequence[ForeignRecord], path: str) -> str:
    found = {
        UNKNOWN if value is UNTOLD else rounding.setting(value) for value in (told(r.config, path) for r in records)
    }
    return found.pop() if len(found) == 1 else UNKNOWN


def _cell(study: Study, row: Row, column: Column, records: Sequence[ForeignRecord]) -> MetricCell:
    paper = row.reported.get(column.reported) if column.reported is not None else None
    values = [record.metric(study.metric_key(column)) for record in records]
    own = [value / column.divide_by for value in values if value is not None]
    if not own:
        return MetricCell(None, hole="not measured" if records else "missing", paper=paper)
    return MetricCell(summarise(own), paper=paper)


def _notes(study: Study, row: Row, records: Sequence[ForeignRecord]) -> list[str]:
    own = [row.note] if row.note is not None else []
    if not records:
        return [*own, f"nothing imported yet: ablatable import SOURCE --study {study.name} --row {row.name} --seed N"]
    sources = ", ".join(dict.fromkeys(record.origin.said for record in records))
    unfinished = [f"seed {record.seed}: {record.cause}" for record in records if record.cause is not None]
    return [*own, f"imported from {sources}, settings not verified", *unfinished]
