"""The shape of a sweep file (`sweeps/*.yaml`): what is searched, for what, how, and with what budget."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.yaml_file import Document
from ablatable.study.values import Name, Setting

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

Number: TypeAlias = int | float
Better: TypeAlias = Literal["lower", "higher"]

SCORES: dict[str, Better] = {
    "nll": "lower",
    "ppl": "lower",
    "bpc": "lower",
    "bleu": "higher",
    "bleu_paper": "higher",
    "chrf": "higher",
}
"""What a search may minimise or maximise on the development data; a record keeps them as `valid.<metric>`."""

COSTS: dict[str, Better] = {
    "parameters": "lower",
    "flops": "lower",
    "source_tokens": "lower",
    "target_tokens": "lower",
    "wall_seconds": "lower",
    "device_seconds": "lower",
    "peak_memory_bytes": "lower",
}
"""Facts about a run that are a cost; fields of its record."""

PER_PIECE = ("nll", "ppl")
"""Likelihoods a piece: they compare only between runs that cut the text alike."""


@dataclass(frozen=True, config=_STRICT)
class Entry:
    """One searched setting: `values`, or `low` and `high`; neither: what its axis declares.

    `log` draws evenly in the logarithm, `step` allows only `low`, `low + step`, ...; `when` names other settings of
    the space and the values under which this one is searched at all.
    """

    values: tuple[Setting, ...] = ()
    low: Number | None = None
    high: Number | None = None
    log: bool = False
    step: Number | None = None
    when: dict[str, Setting | list[Setting]] = field(default_factory=dict[str, Setting | list[Setting]])

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        bounds = self.low is not None or self.high is not None
        if self.values and (bounds or self.log or self.step is not None):
            raise ValueError("give either 'values' or 'low' and 'high' (with 'log' or 'step')")
        if not bounds and (self.log or self.step is not None):
            raise ValueError("'log' and 'step' go with 'low' and 'high'; give those too")
        if (self.low is None) != (self.high is None):
            raise ValueError("'low' and 'high' go together; give both")
        if self.low is not None and self.high is not None:
            _check_interval(self.low, self.high, self.log, self.step)
        if len({repr(value) for value in self.values}) != len(self.values):
            raise ValueError("a value is there twice; keep one")
        return self


def _check_interval(low: Number, high: Number, log: bool, step: Number | None) -> None:
    if low >= high:
        raise ValueError(f"'low' ({low}) is not below 'high' ({high})")
    if log and low <= 0:
        raise ValueError(f"'log' needs a 'low' above zero, not {low}")
    if log and step is not None:
        raise ValueError("'log' and 'step' exclude each other; list the 'values' instead")
    if step is not None:
        steps = (high - low) / step if step > 0 else 0.0
        if steps < 1 or abs(steps - round(steps)) > 1e-9:
            raise ValueError(f"'step' ({step}) does not lead from 'low' ({low}) to 'high' ({high})")


@dataclass(frozen=True, config=_STRICT)
class Objective:
    """A measurement to make better: a score on the development data, or a cost. `split` is there to say so."""

    metric: str
    split: str = "valid"
    better: Better | None = None

    @property
    def direction(self) -> Better:
        """Which way is better."""
        return (SCORES | COSTS)[self.metric]

    @property
    def key(self) -> str:
        """The key of the measurement in a record: `valid.bleu`, or `flops`."""
        return f"{self.split}.{self.metric}" if self.metric in SCORES else self.metric


@dataclass(frozen=True, config=_STRICT)
class Sampler:
    """Which point comes next.

    grid: every combination, in order. list: the sweep's `points`, in order. random, tpe (Bergstra et al. 2011), gp
    (Gaussian process, expected improvement), nsga2 (Deb et al. 2002).
    """

    kind: Literal["grid", "list", "random", "tpe", "gp", "nsga2"]
    seed: int = Field(default=1, ge=0, le=2**31 - 1)
    startup: int | None = Field(default=None, ge=1)
    """Random points before the model is asked (tpe, gp); 10 where nothing is said."""
    population: int | None = Field(default=None, ge=2)
    """Points of a generation (nsga2); 20 where nothing is said."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.startup is not None and self.kind not in ("tpe", "gp"):
            raise ValueError(f"'startup' means nothing to the sampler {self.kind}; remove it")
        if self.population is not None and self.kind != "nsga2":
            raise ValueError(f"'population' means nothing to the sampler {self.kind}; remove it")
        return self


@dataclass(frozen=True, config=_STRICT)
class Pruner:
    """Which runs are ended early, by their validations.

    median: worse than the median of the earlier trials at that update. asha: not among the best 1/`factor` at a rung
    (Li et al. 2020). hyperband: several of those side by side (Li et al. 2018).
    """

    kind: Literal["none", "median", "asha", "hyperband"] = "none"
    startup: int | None = Field(default=None, ge=0)
    """Trials that are never pruned, at the beginning (median); 5 where nothing is said."""
    first: int | None = Field(default=None, ge=1)
    """No run is pruned before this update; the first validation where nothing is said."""
    factor: int | None = Field(default=None, ge=2)
    """How many enter a rung for one that leaves it (asha, hyperband); 3 where nothing is said."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.kind == "none" and (self.startup, self.first, self.factor) != (None, None, None):
            raise ValueError("kind none prunes nothing; remove the other keys or choose a kind")
        if self.startup is not None and self.kind != "median":
            raise ValueError(f"'startup' means nothing to the pruner {self.kind}; remove it")
        if self.factor is not None and self.kind == "median":
            raise ValueError("'factor' means nothing to the pruner median; remove it")
        return self


@dataclass(frozen=True, config=_STRICT)
class Budget:
    """When a search ends: no trial begins once one of these is used up; those that run then finish."""

    trials: int | None = Field(default=None, ge=1)
    hours: float | None = Field(default=None, gt=0)
    """Hours of runs, all workers together."""
    flops: float | None = Field(default=None, gt=0)
    """Training FLOPs of all runs together."""

    @property
    def limited(self) -> bool:
        """Whether it ends at all."""
        return (self.trials, self.hours, self.flops) != (None, None, None)


def _nowhere() -> Document:
    return Document(Path("sweep"), {})


@dataclass(frozen=True, config=_STRICT)
class Sweep:
    """One search. What `space` and `fixed` say is what runs: the scale comes below it and shrinks none of it."""

    name: Name
    title: str
    experiment: str
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1)]
    sampler: Sampler
    space: dict[str, Entry] = field(default_factory=dict[str, Entry])
    points: tuple[dict[str, Setting], ...] = ()
    """What the sampler `list` goes through; each point sets whatever it names."""
    question: str | None = None
    reading: str | None = None
    scale: str | None = None
    fixed: dict[str, Any] = field(default_factory=dict[str, Any])
    pruner: Pruner = Pruner()
    budget: Budget = Budget()
    seeds: int = Field(default=1, ge=1, le=1000)
    """Runs of every trial, with the experiment's seed and the numbers after it; the objective is their mean."""
    origin: Document = field(default_factory=_nowhere, repr=False, compare=False)

    @property
    def enumerated(self) -> bool:
        """Whether the points are known before the search."""
        return self.sampler.kind in ("grid", "list")
