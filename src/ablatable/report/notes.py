"""Notes on single rows: which seeds are not there, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ablatable.record.schema import Record
from ablatable.report.cells import RowRecords, values
from ablatable.study.schema import Study


class Notes:
    """Gives each distinct text one marker, a, b, ... z, aa, ..., in the order they come up."""

    def __init__(self) -> None:
        self._markers: dict[str, str] = {}

    def marker(self, text: str) -> str:
        """The marker of a text, a new one the first time."""
        return self._markers.setdefault(text, _letters(len(self._markers)))

    @property
    def listed(self) -> tuple[tuple[str, str], ...]:
        """(marker, text), in order."""
        return tuple((marker, text) for text, marker in self._markers.items())


def row_notes(study: Study, row: RowRecords) -> list[str]:
    """The study's own note on the row, one line per cause that kept runs out, what was not measured."""
    own = [row.row.note] if row.row.note is not None else []
    seeds_by_cause: defaultdict[str, list[int]] = defaultdict(list)
    for seed, record in row.records.items():
        if record is None or record.status != "completed":
            seeds_by_cause[_cause(record)].append(seed)
    everything = len(row.records)
    lost = [_with_seeds(cause, seeds, everything) for cause, seeds in seeds_by_cause.items()]
    return own + lost + _unmeasured(study, row)


def _cause(record: Record | None) -> str:
    if record is None:
        return "not run yet"
    return f"{record.status}: {record.cause}" if record.cause else f"{record.status}, no cause recorded"


def _with_seeds(text: str, seeds: Sequence[int], everything: int) -> str:
    if len(seeds) == everything:
        return text
    named = ", ".join(str(seed) for seed in sorted(seeds))
    return f"seed {named} {text}" if len(seeds) == 1 else f"seeds {named} {text}"


def _unmeasured(study: Study, row: RowRecords) -> list[str]:
    notes: list[str] = []
    for column in study.columns:
        if column.metric is None or not row.completed:
            continue
        key = study.metric_key(column)
        lacking = sorted(row.completed.keys() - values(row, column, key).keys())
        if lacking:
            notes.append(_with_seeds(f"has no {key} in its record", lacking, len(row.records)))
    return notes


def _letters(index: int) -> str:
    letters = ""
    while index >= 0:
        letters = chr(ord("a") + index % 26) + letters
        index = index // 26 - 1
    return letters
