"""A table as CSV for programs: nothing blank that is known, every digit, one line a row."""

from __future__ import annotations

import csv
import io

from ablatable.report.model import MetricCell, MetricColumn, Table, TableRow


def render(table: Table) -> str:
    r"""Header and one line a row, ``\n`` line ends. Measured numbers are written exactly."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_header(table))
    for block in table.blocks:
        for row in block.rows:
            writer.writerow(_line(table, block.label, row))
    return buffer.getvalue()


def _header(table: Table) -> list[str]:
    heads = ["group", "row", "base", *(column.path for column in table.settings)]
    for column in table.metrics:
        heads += [f"{column.key}{suffix}" for suffix in _suffixes(column)]
    return [*heads, "tuning", "completed", "planned", "notes", "runs"]


def _suffixes(column: MetricColumn) -> list[str]:
    suffixes = ["", ".sd", ".n", ".state"]
    if column.better is not None:
        suffixes += [".best", ".delta", ".delta_low", ".delta_high", ".delta_p", ".delta_test"]
    if column.has_paper:
        suffixes.append(".paper")
    if column.better is not None and column.has_paper:
        suffixes.append(".sign")
    return suffixes


def _line(table: Table, group: str, row: TableRow) -> list[str]:
    line = [group, row.name, _truth(row.is_base), *row.full_settings]
    for column, cell in zip(table.metrics, row.cells, strict=True):
        line += _measured(column, cell)
    texts = dict(table.notes)
    notes = "; ".join(texts[marker] for marker in row.markers)
    return [*line, table.tuning, str(row.done), str(row.planned), notes, " ".join(row.ids)]


def _measured(column: MetricColumn, cell: MetricCell) -> list[str]:
    sample, gap = cell.sample, cell.difference
    parts = [
        _number(None if sample is None else sample.mean),
        _number(None if sample is None else sample.sd),
        "0" if sample is None else str(sample.n),
        "measured" if cell.hole is None else cell.hole,
    ]
    if column.better is not None:
        parts.append(_truth(cell.best))
        parts.append(_number(gap.value if gap else None))
        parts += [_rounded(value) for value in (gap.low, gap.high, gap.p)] if gap else [""] * 3
        parts.append(gap.method or "" if gap else "")
    if column.has_paper:
        parts.append(_number(cell.paper))
    if column.better is not None and column.has_paper:
        parts.append("" if cell.agreement is None else cell.agreement.text)
    return parts


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _rounded(value: float | None) -> str:
    """Six digits for what went through the C library's logarithms, whose last digit differs by machine."""
    return "" if value is None else f"{value:.6g}"


def _truth(value: bool) -> str:
    return "yes" if value else "no"
