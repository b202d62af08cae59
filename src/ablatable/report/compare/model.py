"""A finished comparison as pure data: what the terminal, the Markdown and the JSON are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ablatable.report.statistics import Difference, Sample

Part = Literal["config", "metrics", "curves", "significance", "sentences"]

PARTS: tuple[Part, ...] = ("config", "metrics", "curves", "significance", "sentences")
"""In the order they are printed."""


@dataclass(frozen=True)
class Column:
    """One side of the comparison: what it is called and which runs it is."""

    letter: str
    name: str
    ids: tuple[str, ...]
    seeds: tuple[int, ...]
    status: str
    scale: str | None
    remark: str | None


@dataclass(frozen=True)
class SettingLine:
    """A setting that differs, with its resolved value on each side.

    A value is a tuple where the seeds of a side do not agree. ``operational``: it says how to run, not what.
    ``tuned``: a search chose it, on some side at least.
    """

    path: str
    values: tuple[Any, ...]
    operational: bool = False
    tuned: bool = False


@dataclass(frozen=True)
class MetricLine:
    """A metric or a fact on each side, and the difference to the first; None where none may be given."""

    key: str
    unit: str
    samples: tuple[Sample | None, ...]
    differences: tuple[Difference | None, ...]


@dataclass(frozen=True)
class Point:
    """A side's validation: the mean over its seeds, and the lowest and the highest of them."""

    update: int
    target_tokens: float
    nll: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """The learning curve of a side: unsmoothed nats per target piece on the development data."""

    letter: str
    name: str
    seeds: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class PairedTest:
    """One side against the first. ``n`` counts seeds or sentences; ``corrected`` is Holm's, None for one comparison."""

    letter: str
    metric: str
    test: str
    over: Literal["seeds", "sentences"]
    n: int
    difference: float
    low: float | None
    high: float | None
    p: float
    corrected: float | None = None
    signature: str | None = None


@dataclass(frozen=True)
class Sentence:
    """A sentence of the split, numbered from 1, with each side's translation and its score."""

    number: int
    source: str
    reference: str
    hypotheses: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def spread(self) -> float:
        """How far the best score is from the worst."""
        return max(self.scores) - min(self.scores)


@dataclass(frozen=True)
class Comparison:
    """All of it. ``refused`` says in a sentence why a part, or some of it, could not be had."""

    split: str
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    settings: tuple[SettingLine, ...] = ()
    provenance: tuple[SettingLine, ...] = ()
    metrics: tuple[MetricLine, ...] = ()
    curves: tuple[Curve, ...] = ()
    tests: tuple[PairedTest, ...] = ()
    test_notes: tuple[str, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    sentences_by: str = ""
    sentences_asked: int = 0
    """How many sentences were to be shown at most."""
    refused: dict[Part, str] = field(default_factory=dict[Part, str])
