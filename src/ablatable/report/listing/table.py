"""The list itself: which runs, in which order, with which columns, and its forms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ablatable.errors import InputError
from ablatable.report.listing.entry import Entry
from ablatable.report.listing.filters import parse
from ablatable.report.listing.keys import Key, key
from ablatable.report.measures import number, setting
from ablatable.report.plain_table import markdown_table
from ablatable.report.settings import INACTIVE
from ablatable.report.yardstick import why_mixed, yardstick

COLUMNS = ("id", "study", "row", "scale", "seed", "status", "updates", "valid.ppl", "valid.bleu")
"""What is shown unless a command says otherwise."""


@dataclass(frozen=True)
class Listing:
    """Runs and columns as asked for; ``notes`` say which numbers do not compare, ``total`` counts every run."""

    columns: tuple[Key, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]
    total: int


def listing(
    entries: Sequence[Entry],
    filters: Sequence[str] = (),
    sort: str | None = None,
    columns: str | None = None,
    reverse: bool = False,
) -> Listing:
    """The runs that all filters hold for.

    Args:
        entries: every run there is.
        filters: such as ``bleu>20``; what they ask about is shown as well.
        sort: a key, smallest first, runs without it last; None: by study, row, scale and seed.
        columns: keys with commas, instead of `COLUMNS`.
        reverse: the other way round; runs without the key still last.

    Raises:
        InputError: an unknown key, or a filter that means nothing.
    """
    conditions = parse(filters, entries)
    by = None if sort is None else key(sort, entries, "--sort")
    shown = _columns(columns, entries)
    if columns is None:
        shown += [one for one in (*(condition.key for condition in conditions), by) if one is not None]
    kept = [entry for entry in entries if all(condition.holds(entry) for condition in conditions)]
    ordered = _ordered(kept, by, reverse)
    distinct = tuple({one.name: one for one in shown}.values())
    return Listing(distinct, tuple(ordered), tuple(_mixed(distinct, ordered)), len(entries))


def _columns(columns: str | None, entries: Sequence[Entry]) -> list[Key]:
    names = COLUMNS if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    if not names:
        raise InputError("--columns: name at least one, such as id,row,bleu")
    return [key(name, entries, "--columns") for name in names]


def _ordered(entries: Sequence[Entry], by: Key | None, reverse: bool) -> list[Entry]:
    """Equal values keep the order of study, row, scale and seed, whichever way round."""
    ordered = sorted(entries, key=lambda entry: entry.order)
    if by is None:
        return ordered[::-1] if reverse else ordered
    having = [entry for entry in ordered if _sortable(by, entry) is not None]
    without = [entry for entry in ordered if _sortable(by, entry) is None]
    return [*sorted(having, key=lambda entry: _sortable(by, entry), reverse=reverse), *without]


def _sortable(by: Key, entry: Entry) -> Any:
    """A value that compares with others of its key; None where there is none. Null comes before any number."""
    value = by.of(entry)
    if value is INACTIVE or (value is None and not (by.nullable and entry.config)):
        return None
    return (value is not None, json.dumps(value) if isinstance(value, list) else value if value is not None else 0)


def _mixed(columns: Sequence[Key], entries: Sequence[Entry]) -> list[str]:
    """A sentence for each metric whose values were measured with more than one yardstick."""
    notes: list[str] = []
    for column in columns:
        if "." not in column.name or not column.measured:
            continue
        having = [entry.record for entry in entries if entry.record is not None and column.name in entry.record.metrics]
        if len({yardstick(record, column.name) for record in having}) > 1:
            notes.append(why_mixed(column.name, column.name).partition(";")[0] + ".")
    if any(entry.foreign is not None for entry in entries):
        notes.append(
            "imported: from the logs of other tools, settings and numbers not verified; they compare with none of ours."
        )
    return notes


def to_markdown(made: Listing) -> str:
    """A table, a line of counts and the notes."""
    heads = [_head(column) for column in made.columns]
    rows = [[_text(column, entry) for column in made.columns] for entry in made.entries]
    left = [i for i, column in enumerate(made.columns) if "number" not in column.kinds]
    count = f"{len(made.entries)} of {made.total} runs"
    parts = [markdown_table(heads, rows, left)] if rows else []
    return "\n\n".join([*parts, "\n".join([count, *(f"- {note}" for note in made.notes)])]) + "\n"


def _head(column: Key) -> str:
    return column.name.removeprefix("valid.") if column.measured else column.name


def _text(column: Key, entry: Entry) -> str:
    value = column.of(entry)
    if value is None:
        return "null" if column.nullable and entry.config else ""
    return number(column.name, value) if column.measured else setting(value)


def to_csv(made: Listing) -> str:
    """Every digit; empty where there is no value."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in made.columns])
    for entry in made.entries:
        values = [_plain(column, entry) for column in made.columns]
        writer.writerow(["" if value is None else _cell(value) for value in values])
    return buffer.getvalue()


def _cell(value: Any) -> str:
    return repr(value) if isinstance(value, float) else json.dumps(value) if isinstance(value, list) else str(value)


def to_json(made: Listing) -> str:
    """``{"runs": [{key: value}], "notes": [...], "total": n}``; null also where a setting means nothing."""
    runs = [{column.name: _plain(column, entry) for column in made.columns} for entry in made.entries]
    content = {"runs": runs, "notes": list(made.notes), "total": made.total}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(column: Key, entry: Entry) -> Any:
    value = column.of(entry)
    return None if value is INACTIVE else value


FORMATS = {"md": to_markdown, "json": to_json, "csv": to_csv}
