"""The measured cells of one column, top to bottom: samples, differences to the baseline, the best in bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ablatable.record.schema import Record
from ablatable.report.agreement import Agreement, agreement, paper_noise
from ablatable.report.model import HoleState, MetricCell
from ablatable.report.rounding import fixed
from ablatable.report.statistics import Difference, difference, summarise
from ablatable.report.trained_elsewhere import hides_cost
from ablatable.report.yardstick import Yardstick, common, hides_text, yardstick
from ablatable.study.schema import VOCABULARY_METRICS, Column, Row, RowRuns, Study


@dataclass(frozen=True)
class RowRecords:
    """A row's runs beside what they left: seed -> record, None where there is none."""

    runs: RowRuns
    records: Mapping[int, Record | None]

    @property
    def row(self) -> Row:
        """The row as the study's file has it."""
        return self.runs.row

    @property
    def completed(self) -> dict[int, Record]:
        """The runs that completed, by seed."""
        return {s: r for s, r in self.records.items() if r is not None and r.status == "completed"}

    @property
    def hole(self) -> HoleState:
        """What to print where not one run completed: the worst that is known."""
        if not self.records:
            return "absent"
        if self.runs.search_failed:
            return "failed"
        states = {"missing" if record is None else record.status for record in self.records.values()}
        return "failed" if "failed" in states else "pruned" if "pruned" in states else "missing"


def metric_cells(study: Study, column: Column, rows: Sequence[RowRecords]) -> list[MetricCell]:
    """One cell a row, in the same order."""
    key = study.metric_key(column)
    base = next(row for row in rows if row.row.name == study.baseline_row.name)
    cells = [_cell(column, key, row, base) for row in rows]
    if is_mixed(key, rows):
        return cells
    aside = set_aside(key, rows)
    return _mark_best(column, cells, [row not in aside for row in rows])


def is_mixed(key: str, rows: Sequence[RowRecords]) -> bool:
    """Whether values of the column that could be ranked were measured with more than one yardstick."""
    aside = set_aside(key, rows)
    return len(_yardsticks(key, [row for row in rows if row not in aside])) > 1


def set_aside(key: str, rows: Sequence[RowRecords]) -> list[RowRecords]:
    """Rows whose value hides part of the text, where others show all of it: they are not ranked among these."""
    if len(_yardsticks(key, rows)) <= 1:
        return []
    return [row for row in rows if any(hides_text(record, key) for record in row.completed.values())]


def _yardsticks(key: str, rows: Sequence[RowRecords]) -> set[Yardstick]:
    records = [record for row in rows for record in row.completed.values()]
    return {yardstick(record, key) for record in records if "." not in key or key in record.metrics}


def values(row: RowRecords, column: Column, key: str) -> dict[int, float]:
    """Seed -> value, in the column's unit, over the completed runs that have it."""
    found = {seed: _value(record, column, key) for seed, record in row.completed.items()}
    return {seed: value / column.divide_by for seed, value in found.items() if value is not None}


def _value(record: Record, column: Column, key: str) -> float | None:
    if column.is_score or column.metric in VOCABULARY_METRICS:
        return record.metric(key)
    return None if hides_cost(record, key) else float(getattr(record, key))


def _cell(column: Column, key: str, row: RowRecords, base: RowRecords) -> MetricCell:
    own = values(row, column, key)
    paper = row.row.reported.get(column.reported) if column.reported is not None else None
    reference = _reference(row.row, base.row)
    if not own:
        return MetricCell(None, hole="not measured" if row.completed else row.hole, paper=paper)
    gap = None
    if column.better is not None and row is not base and _comparable(key, row, base):
        gap = difference(own, values(base, column, key))
    verdict = _agreement(column, gap, paper, reference)
    return MetricCell(summarise(list(own.values())), difference=gap, paper=paper, agreement=verdict)


def _reference(row: Row, base: Row) -> Mapping[str, float]:
    """The published baseline that a row's published values are differences to: of the same source, or none."""
    return base.reported if row.reported_from == base.reported_from else row.reported_base


def _comparable(key: str, row: RowRecords, base: RowRecords) -> bool:
    ours: Yardstick | None = common(row.completed.values(), key)
    return ours is not None and ours == common(base.completed.values(), key)


def _agreement(
    column: Column, gap: Difference | None, paper: float | None, base: Mapping[str, float]
) -> Agreement | None:
    at_base = base.get(column.reported) if column.reported is not None else None
    if gap is None or paper is None or at_base is None or column.metric is None:
        return None
    return agreement(gap, paper - at_base, paper_noise(column.metric, column.digits))


def _mark_best(column: Column, cells: list[MetricCell], ranked: Sequence[bool]) -> list[MetricCell]:
    """Mark the best mean among the ranked rows, and all that print alike: a tie in the table is a tie."""
    means = [cell.sample.mean for cell, taken in zip(cells, ranked, strict=True) if taken and cell.sample is not None]
    if column.better is None or len(means) < 2:
        return cells
    best = fixed(min(means) if column.better == "lower" else max(means), column.digits)
    return [
        replace(cell, best=taken and cell.sample is not None and fixed(cell.sample.mean, column.digits) == best)
        for cell, taken in zip(cells, ranked, strict=True)
    ]
