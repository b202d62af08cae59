"""A table as columns and rows of plain values, for programs that keep numbers as numbers."""

from __future__ import annotations

from ablatable.report.model import MetricCell, MetricColumn, Table

Plain = str | float | int | None


def columns(table: Table) -> list[str]:
    """One name a column: settings by path, measurements by metric with what is known beside their mean."""
    names = ["group", "row", *(column.path for column in table.settings)]
    for column in table.metrics:
        names += [f"{column.key}{suffix}" for suffix in _suffixes(column)]
    return [*names, "completed", "planned", "runs"]


def rows(table: Table) -> list[list[Plain]]:
    """One list a row, top to bottom; what is not known is None."""
    return [
        [
            block.label,
            row.title,
            *row.full_settings,
            *(value for pair in zip(table.metrics, row.cells, strict=True) for value in _values(*pair)),
            row.done,
            row.planned,
            " ".join(row.ids),
        ]
        for block in table.blocks
        for row in block.rows
    ]


def _suffixes(column: MetricColumn) -> list[str]:
    return ["", ".sd", *([".delta", ".p"] if column.better else []), *([".paper"] if column.has_paper else [])]


def _values(column: MetricColumn, cell: MetricCell) -> list[Plain]:
    sample, gap = cell.sample, cell.difference
    found: list[Plain] = [None, None] if sample is None else [sample.mean, sample.sd]
    if column.better:
        found += [None, None] if gap is None else [gap.value, gap.p]
    if column.has_paper:
        found.append(cell.paper)
    return found
