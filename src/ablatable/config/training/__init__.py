"""Training (section 5). Defaults are the paper's."""

import math
from typing import Self

from pydantic import ConfigDict, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.training.budget import BudgetChoices
from ablatable.config.training.loss import LossChoices
from ablatable.config.training.optimiser import OptimiserChoices
from ablatable.config.training.selection import SelectionChoices


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Training(SelectionChoices, OptimiserChoices, LossChoices, BudgetChoices):
    """How the parameters are learned; fields come from the last base on."""

    def peak_rate(self, d_model: int) -> float:
        """The peak of a schedule other than the paper's, resolved: ``learning_rate``, or the paper's own peak."""
        return self.paper_peak(d_model) if self.learning_rate is None else self.learning_rate

    def paper_peak(self, d_model: int) -> float:
        """d_model^-0.5 warmup^-0.5 (section 5.3, factor 1); one square root has the same last bit on every machine."""
        return 1 / math.sqrt(d_model * self.warmup)

    def averaged(self, updates: int) -> int:
        """Checkpoints averaged of a training that ended after so many updates: one an interval, and one at the end."""
        return min(self.average_last, -(-updates // self.average_every))

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.schedule != "paper" and self.warmup >= self.updates:
            raise ValueError(
                f"train.warmup={self.warmup} takes all of train.updates={self.updates}, so that train.schedule="
                f"{self.schedule} never comes to its peak and what follows it; lower train.warmup"
            )
        longest = self.updates * self.accumulate * self.batch_tokens
        if self.max_target_tokens is not None and self.max_target_tokens >= longest:
            raise ValueError(
                f"train.max_target_tokens={self.max_target_tokens} cannot end this run: train.updates={self.updates} "
                f"of train.batch_tokens={self.batch_tokens} and train.accumulate={self.accumulate} read at most "
                f"{longest} target tokens; lower it or leave it out"
            )
        if self.patience is not None and (self.patience + 1) * self.validate_every >= self.updates:
            raise ValueError(
                f"train.patience={self.patience} cannot end this run early: the validations of "
                f"train.updates={self.updates} with train.validate_every={self.validate_every} are too few; "
                "lower patience or validate_every, or leave patience out"
            )
        return self
