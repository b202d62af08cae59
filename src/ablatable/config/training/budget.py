"""How long and on how much at a time a model is trained (sections 5.1 and 5.2)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, changes


@dataclass(frozen=True, kw_only=True)
class BudgetChoices:
    """When training ends, and what one update sees."""

    updates: Annotated[
        int,
        Field(ge=1, le=100_000_000, description="Optimiser updates."),
        Axis("train steps", "5.2", changes(Effect.GRADIENT), values=(100_000, 300_000), scales="updates"),
    ] = 100_000
    max_target_tokens: Annotated[
        int | None, Field(ge=1, description="Stop after so many target tokens, if updates do not end first.")
    ] = None
    max_minutes: Annotated[
        float | None,
        Field(gt=0, description="Stop after so many minutes of training; not repeatable, so recorded as such."),
    ] = None
    batch_tokens: Annotated[
        int,
        Field(ge=8, le=10_000_000, description="Tokens a side in one batch, padding counted, over all devices."),
        Axis("batch tokens", "5.1", changes(Effect.DATA), values=(12_500, 25_000), search=(1024, 65536, "log")),
    ] = 25_000
    accumulate: Annotated[
        int,
        Field(ge=1, le=1024, description="Batches whose gradients make one update."),
        Axis("accumulation", "5.1", changes(Effect.DATA, Effect.GRADIENT), values=(1, 4)),
    ] = 1
