"""What is compared: one run, or a row of a study with its seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablatable.record.foreign import AnyRecord, ForeignRecord
from ablatable.record.schema import Record
from ablatable.report.names import run_name

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Sides are lettered in the order they are named; A is the baseline."""


@dataclass(frozen=True)
class Run:
    """A finished or imported run; ``folder`` is None for a published one, whose record is all there is."""

    record: AnyRecord
    folder: Path | None


@dataclass(frozen=True)
class Side:
    """One column of the comparison. ``runs`` are ordered by seed, one at least, all completed or none of them.

    ``remark`` says what is missing of a row. ``tuned`` are the settings that a search chose for it.
    """

    letter: str
    name: str
    runs: tuple[Run, ...]
    remark: str | None = None
    tuned: frozenset[str] = frozenset()

    @property
    def records(self) -> tuple[AnyRecord, ...]:
        """The records, by seed."""
        return tuple(run.record for run in self.runs)

    @property
    def ours(self) -> tuple[Record, ...]:
        """Those of them that are no imports."""
        return tuple(record for record in self.records if isinstance(record, Record))

    @property
    def imported(self) -> tuple[ForeignRecord, ...]:
        """Those of them that another tool made; a side has either kind alone."""
        return tuple(record for record in self.records if isinstance(record, ForeignRecord))

    @property
    def seeds(self) -> tuple[int, ...]:
        """One for each run."""
        return tuple(record.seed for record in self.records)

    @property
    def completed(self) -> bool:
        """Whether there are final numbers."""
        return all(record.status == "completed" for record in self.records)

    @property
    def head(self) -> str:
        """``B table3/h=1``."""
        return f"{self.letter} {self.name}"

    def values(self, key: str) -> dict[int, float]:
        """Seed -> value of a metric (``valid.bleu``) or of a fact (``parameters``), where there is one."""
        return {run.seed: value for run in self.records if (value := measured(run, key)) is not None}


def measured(record: AnyRecord, key: str) -> float | None:
    """A metric of the record, or one of its fields."""
    found = record.metric(key)
    fact = getattr(record, key, None) if found is None else found
    return None if fact is None else float(fact)


def single(letter: str, run: Run) -> Side:
    """A side of one run."""
    return Side(letter, run_name(run.record), (run,), tuned=_tuned((run,)))


def row(letter: str, name: str, runs: list[Run], remark: str | None, tuned: Iterable[str] = ()) -> Side:
    """A side of a row's runs; one alone is called by its seed, too."""
    ordered = tuple(sorted(runs, key=lambda run: run.record.seed))
    called = f"{name}/{ordered[0].record.seed}" if len(ordered) == 1 else name
    return Side(letter, called, ordered, remark, _tuned(ordered) | frozenset(tuned))


def _tuned(runs: Sequence[Run]) -> frozenset[str]:
    """What their records say was searched for."""
    ours = [run.record for run in runs if isinstance(run.record, Record)]
    found = [record.tuned.settings for record in ours if record.tuned is not None]
    return frozenset(path for settings in found for path in settings)
