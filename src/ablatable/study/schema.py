"""The shape of a study file (`ablations/*.yaml`): a table, its rows and columns, the paper's own numbers.

A study names its baseline experiment once; each row says only what it changes, at paper size. A scale maps
the whole table onto other hardware without a row being edited.
"""

from dataclasses import dataclass as plain_dataclass
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.schema import Experiment
from ablatable.config.yaml_file import Document
from ablatable.record.schema import RUN_FACTS, Tuned
from ablatable.study.tuning.schema import Tuning
from ablatable.study.values import Name, Setting

SCORE_METRICS = ("nll", "ppl", "bpc", "bleu", "bleu_paper", "chrf", "oov_source", "oov_target")
"""Measured on a split; a record keeps them as `<split>.<metric>`."""

BUCKET_METRICS = ("nll", "ppl", "bleu", "bleu_paper", "chrf")
"""Measured on the sentences of a length bucket too; a record keeps them as `<split>.<metric>.<bucket>`."""

VOCABULARY_METRICS = ("source_vocabulary", "target_vocabulary")
"""Pieces the vocabularies have; a record keeps them by these names among its metrics."""

RUN_METRICS = (*VOCABULARY_METRICS, *RUN_FACTS)
"""Facts about the run itself; all but the vocabularies are fields of the record."""

_STRICT = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True, config=_STRICT)
class Column:
    """One column: a setting (`path`, a dotted config path) or a measurement (`metric`)."""

    label: str
    path: str | None = None
    metric: str | None = None
    bucket: str | None = None
    """One of the length buckets of `evaluate.length_buckets`, such as `21-40` or `longer`; None: the whole split."""
    digits: int = Field(default=2, ge=0, le=10)
    better: Literal["lower", "higher"] | None = None
    reported: str | None = None
    """Key under a row's `reported` that holds the paper's value of this column: the metric's name, or `params`."""
    divide_by: float = Field(default=1.0, gt=0)
    """Shown value = measured value / divide_by (1e6 shows parameters in millions)."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.metric is None):
            raise ValueError("give a column either 'path' (a setting) or 'metric' (a measurement)")
        if self.path is not None and (self.better is not None or self.reported is not None):
            raise ValueError("'better' and 'reported' belong to metric columns")
        if self.bucket is not None and self.metric not in BUCKET_METRICS:
            raise ValueError(f"a 'bucket' belongs to a column whose metric is one of {', '.join(BUCKET_METRICS)}")
        return self

    @property
    def is_score(self) -> bool:
        """Whether the metric is measured on a split (and so is named `<split>.<metric>` in a record)."""
        return self.metric in SCORE_METRICS


@dataclass(frozen=True, config=_STRICT)
class Group:
    """Rows that vary one thing, such as the paper's (A): rows name its `id`, tables print its `label`."""

    id: Name
    label: str


@dataclass(frozen=True, config=_STRICT)
class Row:
    """One row: what it changes of the baseline. The row that sets nothing and is not imported is the baseline."""

    name: Name
    label: str | None = None
    group: Name | None = None
    set: dict[str, Setting] = field(default_factory=dict[str, Setting])
    """Settings at paper size; a scale shrinks them."""
    fixed: dict[str, Setting] = field(default_factory=dict[str, Setting])
    """Settings that are the same at every scale, whatever the scale says of them (a beam, a number of averages)."""
    scales: tuple[str, ...] = ()
    """The only scales the row exists at; empty: all. At others it is a hole with that cause."""
    reported: dict[str, float] = field(default_factory=dict[str, float])
    """Published values, by the `reported` key of their column and in its unit."""
    reported_from: str | None = None
    """Where they come from, when that is not the study's `source`."""
    reported_base: dict[str, float] = field(default_factory=dict[str, float])
    """What `reported_from` reports of its own baseline: only with that is there a published difference to compare."""
    note: str | None = None
    imported: bool = False
    """Its runs come from `ablatable import`; nothing is trained for it, and its settings are what was told there."""

    @property
    def title(self) -> str:
        """What a table prints for the row: its label, or else its name."""
        return self.label if self.label is not None else self.name

    @property
    def changes(self) -> dict[str, Setting]:
        """All it sets, at paper size or at any."""
        return {**self.set, **self.fixed}

    def absence(self, scale: str) -> str | None:
        """Why the row is a hole at this scale; None where it exists."""
        if not self.scales or scale in self.scales:
            return None
        return f"no such row at scale {scale}, only at {' and '.join(self.scales)}"


def _nowhere() -> Document:
    return Document(Path("study"), {})


@dataclass(frozen=True, config=_STRICT)
class Study:
    """One table: title, source, question, baseline experiment, columns, groups and rows."""

    name: Name
    title: str
    baseline: str
    columns: Annotated[tuple[Column, ...], Field(min_length=1)]
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]
    groups: tuple[Group, ...] = ()
    source: str | None = None
    """Where the published values come from (paper, section, table)."""
    question: str | None = None
    """What the table asks, in a sentence."""
    reading: str | None = None
    """How to read the answer: what to expect, and what is within noise."""
    split: Literal["valid", "test"] = "valid"
    fixed: dict[str, Setting | list[int]] = field(default_factory=dict[str, Setting | list[int]])
    """Settings of every row, the baseline's too, that are the same at every scale."""
    tuning: Tuning | None = None
    """Which settings are searched before the seeds run; None: every row has the baseline's."""
    scales: tuple[str, ...] = ()
    """Scales this study may run at, the first being its default; empty: any, and `paper` by default."""
    origin: Document = field(default_factory=_nowhere, repr=False, compare=False)
    """The file the study was read from and the line of each key; set by the loader, named in errors."""

    @property
    def default_scale(self) -> str:
        """The scale a command uses when none is given."""
        return self.scales[0] if self.scales else "paper"

    @property
    def baseline_row(self) -> Row:
        """The row that sets nothing (the loader guarantees exactly one)."""
        return next(row for row in self.rows if not row.changes and not row.imported)

    def imported(self, scale: str) -> tuple[Row, ...]:
        """The rows whose runs are imported and that exist at this scale."""
        return tuple(row for row in self.rows if row.imported and row.absence(scale) is None)

    def absent(self, scale: str) -> tuple[Row, ...]:
        """The rows that do not exist at this scale."""
        return tuple(row for row in self.rows if row.absence(scale) is not None)

    def row(self, name: str) -> Row:
        """The row of that name. Raises `KeyError` when there is none."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def metric_key(self, column: Column) -> str:
        """The key under which a record keeps a metric column's value: `valid.ppl`, `valid.ppl.longer`, `parameters`."""
        if column.metric is None:
            raise ValueError(f"column {column.label!r} shows a setting, not a metric")
        if not column.is_score:
            return column.metric
        return ".".join((self.split, column.metric, *([column.bucket] if column.bucket is not None else [])))


@plain_dataclass(frozen=True)
class RowRuns:
    """A row at one scale: one experiment and one run id per seed, in the order of the seeds."""

    row: Row
    experiments: tuple[Experiment, ...]
    ids: tuple[str, ...]
    tuned: Tuned | None = None
    """Which of its settings a search chose."""
    awaits: str | None = None
    """Why the settings to tune are not known yet; the experiments have the baseline's, and the ids are of no run."""
    search_failed: bool = False
    """Whether they never will be: all trials ended, and none completed."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, one per run."""
        return tuple(experiment.seed for experiment in self.experiments)
