"""A finished table as pure data: everything a renderer needs, nothing it has to work out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ablatable.report.agreement import Agreement
from ablatable.report.statistics import Difference, Sample

HoleState = Literal["missing", "failed", "pruned", "absent", "not measured"]
"""``absent``: the row does not exist at this scale."""


@dataclass(frozen=True)
class SettingColumn:
    """A column of configuration; ``path`` is dotted."""

    label: str
    path: str
    tuned: bool = False
    """Searched before the seeds ran, so no part of what the row is about."""


@dataclass(frozen=True)
class MetricColumn:
    """A measured column. Values are already divided by the column's unit (millions of parameters)."""

    label: str
    key: str
    digits: int
    better: Literal["lower", "higher"] | None
    has_paper: bool
    is_fact: bool
    """Follows from the settings alone (parameters, updates), so it has no spread over seeds."""

    @property
    def short(self) -> str:
        """The label without its bracket: ``BLEU`` of ``BLEU (dev)``."""
        return self.label.partition(" (")[0]


@dataclass(frozen=True)
class MetricCell:
    """One measurement of one row: a sample or the hole in its place, and the paper's value."""

    sample: Sample | None
    hole: HoleState | None = None
    best: bool = False
    difference: Difference | None = None
    paper: float | None = None
    agreement: Agreement | None = None


@dataclass(frozen=True)
class TableRow:
    """One row. A setting is None where it equals the base row's (printed blank), never in ``full_settings``.

    ``done`` of ``planned`` runs completed; ``markers`` point to the table's notes; ``ids`` are its runs' ids.
    """

    name: str
    title: str
    is_base: bool
    settings: tuple[str | None, ...]
    full_settings: tuple[str, ...]
    cells: tuple[MetricCell, ...]
    done: int
    planned: int
    markers: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """Rows that stand together between two rules: a group such as (A), or a single row outside any."""

    label: str
    rows: tuple[TableRow, ...]


@dataclass(frozen=True)
class Table:
    """A table. ``notes`` are (marker, text) about rows; ``footnotes`` hold conventions and provenance."""

    name: str
    scale: str
    title: str
    question: str | None
    source: str | None
    settings: tuple[SettingColumn, ...]
    metrics: tuple[MetricColumn, ...]
    blocks: tuple[Block, ...]
    notes: tuple[tuple[str, str], ...]
    tuning: str
    """``shared settings``, or how the rows were tuned; stands beside the title."""
    footnotes: tuple[str, ...]

    @property
    def rows(self) -> tuple[TableRow, ...]:
        """Every row, top to bottom."""
        return tuple(row for block in self.blocks for row in block.rows)
