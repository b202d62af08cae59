"""The printed grid that Markdown, LaTeX and HTML share: which columns stand where and what text is in them.

Texts are plain Unicode (± − Δ ~); each renderer escapes them for its own format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ablatable.report import rounding
from ablatable.report.model import MetricCell, MetricColumn, Table, TableRow

DELTA = "\N{GREEK CAPITAL LETTER DELTA}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
DASH = "\N{EN DASH}"

Kind = Literal["group", "name", "setting", "count", "value", "delta", "paper", "sign"]


@dataclass(frozen=True)
class Head:
    """A column's head. ``over`` is the heading it shares with its neighbours (a metric), or empty."""

    label: str
    kind: Kind
    over: str = ""
    alone: str = ""
    """The label where there is only one line of headings."""


@dataclass(frozen=True)
class Cell:
    """A cell's text; ``detail`` is what a format with room may add (the p-value)."""

    text: str
    kind: Kind
    bold: bool = False
    markers: tuple[str, ...] = ()
    detail: str = ""
    span: int = 1
    """Columns it may fill: the cells it would cover follow it, and they are empty."""


@dataclass(frozen=True)
class Grid:
    """Heads (the group column first), and blocks of rows; a row has a cell for every head but the group."""

    heads: tuple[Head, ...]
    blocks: tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]

    def spanned(self) -> Grid:
        """The grid for a format whose cells can span columns: what a cell covers is left out."""
        blocks = tuple((label, tuple(_uncovered(row) for row in rows)) for label, rows in self.blocks)
        return Grid(self.heads, blocks)


def _uncovered(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    kept: list[Cell] = []
    covered = 0
    for cell in row:
        if covered:
            covered -= 1
            continue
        kept.append(cell)
        covered = cell.span - 1
    return tuple(kept)


def grid(table: Table) -> Grid:
    """Lay a table out."""
    heads = [Head("", "group"), Head("", "name")]
    heads += [Head(column.label, "setting", alone=column.label) for column in table.settings]
    heads += [head for column in table.metrics for head in _heads(column)]
    heads.append(Head("n", "count", alone="n"))
    blocks = [(block.label, tuple(_line(table, row) for row in block.rows)) for block in table.blocks]
    return Grid(tuple(heads), tuple(blocks))


def _heads(column: MetricColumn) -> list[Head]:
    short = column.short
    heads = [Head("ours", "value", column.label, column.label)]
    if column.better is not None:
        heads.append(Head(DELTA, "delta", column.label, f"{DELTA} {short}"))
    if column.has_paper:
        heads.append(Head("paper", "paper", column.label, f"{short}, paper"))
    if column.better is not None and column.has_paper:
        heads.append(Head("sign", "sign", column.label, f"{short}, sign"))
    return heads


def _line(table: Table, row: TableRow) -> tuple[Cell, ...]:
    # A row that changes nothing the columns show says so across them, as the paper's row (E) does.
    plain = not row.is_base and not any(row.settings)
    cells = [Cell(row.title, "name", markers=row.markers, span=1 + len(row.settings) if plain else 1)]
    cells += [Cell(text or "", "setting") for text in row.settings]
    for column, cell in zip(table.metrics, row.cells, strict=True):
        cells += _measured(column, cell, row)
    cells.append(Cell(str(row.done) if row.done == row.planned else f"{row.done} of {row.planned}", "count"))
    return tuple(cells)


def _measured(column: MetricColumn, cell: MetricCell, row: TableRow) -> list[Cell]:
    cells = [Cell(_value(column, cell, row), "value", bold=cell.best)]
    if column.better is not None:
        cells.append(Cell(_delta(column, cell), "delta", detail=_test(cell)))
    if column.has_paper:
        cells.append(Cell("" if cell.paper is None else _paper(column, cell.paper), "paper"))
    if column.better is not None and column.has_paper:
        verdict = cell.agreement
        detail = "" if verdict is None or verdict.why is None else f"{verdict.why} within noise"
        cells.append(Cell("" if verdict is None else verdict.text, "sign", detail=detail))
    return cells


def _value(column: MetricColumn, cell: MetricCell, row: TableRow) -> str:
    sample = cell.sample
    if sample is None:
        return DASH if cell.hole == "not measured" else str(cell.hole)
    text = rounding.fixed(sample.mean, column.digits)
    if sample.sd is not None and not column.is_fact:
        text += f" {PLUS_MINUS} {rounding.fixed(sample.sd, column.digits)}"
    return text if sample.n == row.done else f"{text} (n = {sample.n})"


def _delta(column: MetricColumn, cell: MetricCell) -> str:
    gap = cell.difference
    if gap is None:
        return ""
    text = rounding.signed(gap.value, column.digits)
    if gap.low is None or gap.high is None:
        return text
    return f"{text} [{rounding.signed(gap.low, column.digits)}, {rounding.signed(gap.high, column.digits)}]"


def _test(cell: MetricCell) -> str:
    gap = cell.difference
    if gap is None or gap.p is None:
        return ""
    return f"{gap.method} t, p = {gap.p:.3f}"


def _paper(column: MetricColumn, value: float) -> str:
    """A score to the column's digits (26.0); a fact as it was printed (65)."""
    return f"{value:g}" if column.is_fact else rounding.fixed(value, column.digits)
