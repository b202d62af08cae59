"""What a study says of its tuning: which settings are searched in every row, how, and with what budget."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ablatable.study.sweep.schema import SCORES, Better, Entry, Pruner, Sampler


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Tuning:
    """`tuning` of a study. The budget, the sampler and its seed are the same for every row, the baseline too."""

    axes: dict[str, Entry]
    """The tuned settings by path; an empty entry has the range its axis declares."""
    trials: int = Field(ge=1, le=10_000)
    """Of each search."""
    per: Literal["row", "study"] = "row"
    """row: every row is searched. study: the baseline is, and its settings serve every row."""
    objective: str = "nll"
    """A score on the development data: trials are compared by nothing else."""
    sampler: Sampler = Sampler("tpe")
    pruner: Pruner = Pruner()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.axes:
            raise ValueError("'axes' is empty; name one setting at least")
        if self.sampler.kind in ("list", "nsga2"):
            raise ValueError(f"the sampler {self.sampler.kind} tunes no row; take tpe, random, gp or grid")
        return self

    @property
    def better(self) -> Better:
        """Which way the objective is better."""
        return SCORES[self.objective]

    @property
    def metric(self) -> str:
        """The key of the objective in a record."""
        return f"valid.{self.objective}"

    @property
    def said(self) -> str:
        """What stands beside a table's title."""
        trials = f"{self.trials} trial{'s' if self.trials > 1 else ''}"
        return f"tuned per row, {trials}" if self.per == "row" else f"tuned on the baseline, {trials}"


TRIALS_FILE = "trials.jsonl"
"""The trials of a search, beside its journal; those of a table, beside its records."""

SHARED = "shared settings"
"""What stands there of a table whose rows are not tuned."""
