"""Optimisation (section 5). Defaults are the paper's."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from ablatable.config.axis import Axis, Effect, Needs, changes

_GRADIENT = changes(Effect.GRADIENT)


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Training:
    """How the parameters are learned."""

    updates: Annotated[
        int,
        Field(ge=1, le=100_000_000, description="Optimiser updates."),
        Axis("train steps", "5.2", _GRADIENT, values=(100_000, 300_000), scales="updates"),
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
        Axis(
            "batch tokens",
            "5.1",
            changes(Effect.DATA, Effect.GRADIENT),
            values=(12_500, 25_000),
            search=(1024, 65536, "log"),
        ),
    ] = 25_000
    accumulate: Annotated[
        int,
        Field(ge=1, le=1024, description="Batches whose gradients make one update."),
        Axis("accumulation", "5.1", changes(Effect.DATA, Effect.GRADIENT), values=(1, 4)),
    ] = 1
    label_smoothing: Annotated[
        float,
        Field(ge=0, lt=1, description="Mass a spread evenly over all K classes: (1-a) y + a/K."),
        Axis(
            "eps_ls",
            "5.4",
            changes(Effect.TRAIN_ONLY, Effect.GRADIENT),
            values=(0.0, 0.1, 0.2),
            search=(0.0, 0.4),
        ),
    ] = 0.1
    warmup: Annotated[
        int,
        Field(ge=1, le=10_000_000, description="Updates of linear warm-up."),
        Axis("warm-up", "5.3", _GRADIENT, values=(4000, 8000), scales="warmup", search=(100, 16000, "log")),
    ] = 4000
    learning_rate_factor: Annotated[
        float,
        Field(gt=0, le=1000, description="Multiplies d_model^-0.5 min(step^-0.5, step warmup^-1.5)."),
        Axis("lr factor", "5.3", _GRADIENT, values=(0.5, 1.0, 2.0), search=(0.1, 5.0, "log")),
    ] = 1.0
    beta1: Annotated[
        float,
        Field(ge=0, lt=1, description="Adam's first decay."),
        Axis("beta1", "5.3", _GRADIENT, values=(0.9,)),
    ] = 0.9
    beta2: Annotated[
        float,
        Field(ge=0, lt=1, description="Adam's second decay."),
        Axis("beta2", "5.3", _GRADIENT, values=(0.98, 0.997, 0.999)),
    ] = 0.98
    adam_epsilon: Annotated[
        float,
        Field(gt=0, le=1, description="Adam's epsilon."),
        Axis("Adam epsilon", "5.3", _GRADIENT, values=(1e-9, 1e-8)),
    ] = 1e-9
    precision: Annotated[
        Literal["fp32", "bf16"],
        Field(
            description="fp32, or bf16 autocast over fp32 parameters: many times slower on a CPU without bf16 units."
        ),
        Axis("precision", "5.2", changes(Effect.FORWARD), values=("fp32", "bf16")),
    ] = "fp32"
    validate_every: Annotated[
        int,
        Field(ge=1, description="Updates between validations; the best checkpoint is one of these."),
        Axis("validation interval", "5.2", changes(Effect.DECODE)),
    ] = 1000
    average_last: Annotated[
        int,
        Field(ge=1, le=1000, description="Checkpoints averaged for evaluation; 1 means the last one alone."),
        Axis("averaging", "6.1", changes(Effect.DECODE), values=(1, 5, 20)),
        Needs("evaluate.checkpoint", one_of=("last",)),
    ] = 1
    average_every: Annotated[
        int,
        Field(ge=1, description="Updates between the checkpoints that are averaged."),
        Axis("averaging interval", "6.1", changes(Effect.DECODE)),
        Needs("train.average_last", above=1),
    ] = 1000
