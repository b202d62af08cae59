"""Training (section 5). Defaults are the paper's."""

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

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.schedule == "cosine" and self.warmup >= self.updates:
            raise ValueError(
                f"train.warmup={self.warmup} leaves train.schedule=cosine nothing of train.updates={self.updates} "
                "to fall in; lower the warm-up or choose train.schedule=constant"
            )
        if self.patience is not None and (self.patience + 1) * self.validate_every >= self.updates:
            raise ValueError(
                f"train.patience={self.patience} cannot end this run early: the validations of "
                f"train.updates={self.updates} with train.validate_every={self.validate_every} are too few; "
                "lower patience or validate_every, or leave patience out"
            )
        return self
