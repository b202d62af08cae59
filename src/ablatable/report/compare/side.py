"""What is compared: one run, or a row of a study with its seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablatable.record.schema import Record
from ablatable.report.names import run_name

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Sides are lettered in the order they are named; A is the baseline."""


@dataclass(frozen=True)
class Run:
    """A finished run; ``folder`` is None for a published one, whose record is all there is."""

    record: Record
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
    def records(self) -> tuple[Record, ...]:
        """The records, by seed."""
        return tuple(run.record for run in self.runs)

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


def measured(record: Record, key: str) -> float | None:
    """A metric of the record, or one of its fields."""
    found = record.metric(key)
    return float(getattr(record, key)) if found is None and hasattr(record, key) else found


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
    found = [run.record.tuned.settings for run in runs if run.record.tuned is not None]
    return frozenset(path for settings in found for path in settings)
