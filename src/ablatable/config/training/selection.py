"""Which weights come out of training: validation, averages (section 6.1), stopping early."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

_DECODE = changes(Effect.DECODE)
_STOPS = Needs("train.patience", none_of=(None,))


@dataclass(frozen=True, kw_only=True)
class SelectionChoices:
    """What is kept of the weights that training passes through."""

    validate_every: Annotated[
        int,
        Field(ge=1, description="Updates between validations; the best checkpoint is one of these."),
        # GRADIENT: patience counts validations, and may end training sooner or later.
        Axis("validation interval", "5.2", changes(Effect.DECODE, Effect.GRADIENT)),
    ] = 1000
    average_last: Annotated[
        int,
        Field(ge=1, le=1000, description="Checkpoints averaged for evaluation; 1 means the last one alone."),
        Axis("averaging", "6.1", _DECODE, values=(1, 5, 20)),
        Needs("evaluate.checkpoint", one_of=("last",)),
    ] = 1
    average_every: Annotated[
        int,
        Field(ge=1, description="Updates between the checkpoints that are averaged."),
        Axis("averaging interval", "6.1", _DECODE),
        Needs("train.average_last", above=1),
    ] = 1000
    ema_decay: Annotated[
        float,
        Field(gt=0, lt=1, description="Weight that the running average of the weights keeps at each update."),
        Axis("EMA decay", "Kingma & Ba 2015, section 7.2", _DECODE, values=(0.99, 0.999, 0.9999), search=(0.9, 0.9999)),
        Needs("evaluate.checkpoint", one_of=("ema",)),
    ] = 0.999
    patience: Annotated[
        int | None,
        Field(
            ge=1,
            le=1_000_000,
            description="Training ends after so many validations in a row without a better one; null: never.",
        ),
        Axis("patience", "Prechelt 1998", changes(Effect.GRADIENT), values=(3, 5), search=(2, 20)),
    ] = None
    patience_metric: Annotated[
        str,
        Field(description="What must get better on the development data, fed the right prefix."),
        Axis(
            "patience on",
            "Prechelt 1998",
            changes(Effect.GRADIENT),
            choices={
                "nll": "Prechelt 1998: the loss, here unsmoothed nats a token, lower",
                "accuracy": "share of the target tokens that are the most likely class, padding left out, higher",
            },
        ),
        _STOPS,
    ] = "nll"
