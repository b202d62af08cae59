"""Notes on single rows: which seeds are not there, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ablatable.record.schema import Record
from ablatable.report.cells import RowRecords, values
from ablatable.report.trained_elsewhere import COSTS
from ablatable.study.schema import Column, Row, Study


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


def row_notes(study: Study, row: RowRecords, scale: str) -> list[str]:
    """The study's own note on the row, whose values its paper column shows, and why there are holes.

    One line for each cause that kept runs out, then what was not measured.
    """
    own = [row.row.note] if row.row.note is not None else []
    own += _published_by(study, row.row)
    absence = row.row.absence(scale)
    if absence is not None:
        return [*own, absence]
    seeds_by_cause: defaultdict[str, list[int]] = defaultdict(list)
    for seed, record in row.records.items():
        if record is None or record.status != "completed":
            seeds_by_cause[row.runs.awaits or _cause(record)].append(seed)
    everything = len(row.records)
    lost = [_with_seeds(cause, seeds, everything) for cause, seeds in seeds_by_cause.items()]
    return own + lost + _ended_early(row) + _cost_unknown(study, row) + _unmeasured(study, row)


def _published_by(study: Study, row: Row) -> list[str]:
    """Where published values are from that are not of the study's own source, and what they are a difference to."""
    if row.reported_from is None:
        return []
    base = [
        f"{column.label.partition(' (')[0]} {row.reported_base[column.reported]:g}"
        for column in study.columns
        if column.reported in row.reported_base
    ]
    against = f", whose own baseline has {', '.join(base)}" if base else ", without a baseline to compare with"
    return [f"paper: {row.reported_from}{against}"]


def _cause(record: Record | None) -> str:
    if record is None:
        return "not run yet"
    return f"{record.status}: {record.cause}" if record.cause else f"{record.status}, no cause recorded"


def _ended_early(row: RowRecords) -> list[str]:
    """Why runs ended before their last update, and where that left fewer checkpoints than are to be averaged."""
    said: defaultdict[str, list[int]] = defaultdict(list)
    for seed, record in row.completed.items():
        if record.cause is not None:
            said[record.cause].append(seed)
        averaged = record.metric("averaged_checkpoints")
        if averaged is not None and averaged < (asked := record.config["train"]["average_last"]):
            checkpoints = f"{averaged:g} checkpoint{'s' if averaged > 1 else ''}"
            said[f"averages {checkpoints}, not {asked}: training ended after {record.updates:,} updates"].append(seed)
    return [_with_seeds(text, seeds, len(row.records)) for text, seeds in said.items()]


def _cost_unknown(study: Study, row: RowRecords) -> list[str]:
    keys = dict.fromkeys(column.metric for column in study.columns if column.metric in COSTS)
    seeds = [seed for seed, record in row.completed.items() if record.trained_by is not None]
    if not keys or not seeds:
        return []
    named = " and ".join(str(key) for key in keys)
    shown = "is not shown" if len(keys) == 1 else "are not shown"
    text = f"took the weights of another run: {named} would be of search and scoring alone, and {shown}"
    return [_with_seeds(text, seeds, len(row.records))]


def _with_seeds(text: str, seeds: Sequence[int], everything: int) -> str:
    if len(seeds) == everything:
        return text
    named = ", ".join(str(seed) for seed in sorted(seeds))
    return f"seed {named} {text}" if len(seeds) == 1 else f"seeds {named} {text}"


def _unmeasured(study: Study, row: RowRecords) -> list[str]:
    notes: list[str] = []
    for column in study.columns:
        if column.metric is None or column.metric in COSTS or not row.completed:
            continue
        key = study.metric_key(column)
        lacking = sorted(row.completed.keys() - values(row, column, key).keys())
        if lacking:
            why = _empty_bucket(study, row, column) or f"has no {key} in its record"
            notes.append(_with_seeds(why, lacking, len(row.records)))
    return list(dict.fromkeys(notes))


def _empty_bucket(study: Study, row: RowRecords, column: Column) -> str | None:
    """What is said of a bucket that no translated sentence falls into."""
    name = f"{study.split}.sentences.{column.bucket}"
    if column.bucket is None or any(record.metric(name) != 0 for record in row.completed.values()):
        return None
    return f"no translated sentence of the {study.split} split is in length bucket {column.bucket}"


def _letters(index: int) -> str:
    letters = ""
    while index >= 0:
        letters = chr(ord("a") + index % 26) + letters
        index = index // 26 - 1
    return letters
