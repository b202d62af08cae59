"""How a gradient becomes an update (section 5.3)."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

_GRADIENT = changes(Effect.GRADIENT)


@dataclass(frozen=True, kw_only=True)
class OptimiserChoices:
    """The rate by update number, Adam, and what is done to the gradient and the weights beside it."""

    schedule: Annotated[
        str,
        Field(description="The learning rate as a function of the update; all rise linearly through the warm-up."),
        Axis(
            "schedule",
            "5.3",
            _GRADIENT,
            choices={
                "paper": "Vaswani et al. 2017, section 5.3: factor d_model^-0.5 min(step^-0.5, step warmup^-1.5)",
                "constant": "the peak to the end",
                "cosine": "Loshchilov & Hutter 2017: half a cosine, from the peak to final_rate of it at the end",
                "inverse-sqrt": "Ott et al. 2019: the peak, then peak sqrt(warmup / step)",
            },
            # At the paper's own peak it would be the paper's schedule under another name.
            companions={"inverse-sqrt": {"train.learning_rate": 1e-3}},
        ),
    ] = "paper"
    warmup: Annotated[
        int,
        Field(ge=1, le=10_000_000, description="Updates of linear warm-up."),
        Axis("warm-up", "5.3", _GRADIENT, values=(4000, 8000), scales="warmup", search=(100, 16000, "log")),
    ] = 4000
    learning_rate_factor: Annotated[
        float,
        Field(gt=0, le=1000, description="Multiplies d_model^-0.5 min(step^-0.5, step warmup^-1.5)."),
        Axis("lr factor", "5.3", _GRADIENT, values=(0.5, 1.0, 2.0), search=(0.1, 5.0, "log")),
        Needs("train.schedule", one_of=("paper",)),
    ] = 1.0
    learning_rate: Annotated[
        float | None,
        Field(
            gt=0,
            le=100,
            description="The peak, at the end of the warm-up; null: the paper's with factor 1, d_model^-0.5 "
            "warmup^-0.5, which is 7.0e-4 for its base.",
        ),
        Axis("lr", "5.3", _GRADIENT, values=(3e-4, 7e-4, 1e-3), search=(1e-4, 5e-3, "log")),
        Needs("train.schedule", none_of=("paper",)),
    ] = None
    final_rate: Annotated[
        float,
        Field(ge=0, lt=1, description="The rate of the last update, as a fraction of the peak."),
        Axis("final rate", "Loshchilov & Hutter 2017", _GRADIENT, values=(0.0, 0.1), search=(0.0, 0.5)),
        Needs("train.schedule", one_of=("cosine",)),
    ] = 0.1
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
    weight_decay: Annotated[
        float,
        Field(
            ge=0,
            le=10,
            description="Decoupled decay of matrices, w -= rate decay w beside Adam's step; neither biases nor norms.",
        ),
        Axis(
            "weight decay",
            "Loshchilov & Hutter 2019",
            _GRADIENT,
            values=(0.0, 0.01, 0.1),
            search=(1e-3, 0.3, "log"),
        ),
    ] = 0.0
    clip_norm: Annotated[
        float | None,
        Field(
            gt=0,
            le=1e6,
            description="The longest gradient of a whole update, over all parameters, penalties included; null: any.",
        ),
        Axis("clip norm", "Pascanu et al. 2013", _GRADIENT, values=(0.5, 1.0, 5.0), search=(0.05, 10.0, "log")),
    ] = None
    precision: Annotated[
        Literal["fp32", "bf16"],
        Field(
            description="fp32, or bf16 autocast over fp32 parameters: many times slower on a CPU without bf16 units."
        ),
        Axis("precision", "5.2", changes(Effect.FORWARD), values=("fp32", "bf16")),
    ] = "fp32"
