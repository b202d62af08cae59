"""Normalisation and where it stands (section 3.1)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

_SOME_NORM = Needs("model.norm", none_of=("none",))
_DIVIDES = Needs("model.norm", none_of=("none", "scale"))
"""ScaleNorm only guards against a length of zero, which no residual stream has: epsilon would change nothing."""


@dataclass(frozen=True, kw_only=True)
class NormChoices:
    """How sub-layers are wrapped."""

    norm_placement: Annotated[
        str,
        Field(description="The order of residual sum and normalisation."),
        Axis(
            "norm placement",
            "3.1",
            changes(Effect.FORWARD, Effect.PARAMS),
            choices={
                "post": "Vaswani et al. 2017, section 3.1: norm(x + f(x))",
                "pre": "Xiong et al. 2020: x + f(norm(x)), and one norm at the end of each stack",
                "sandwich": "Ding et al. 2021: x + norm(f(norm(x))), and one norm at the end of each stack",
                "rezero": "Bachlechner et al. 2021: x + a f(x), one a per sub-layer, trained from 0, and no norm",
            },
        ),
        Needs("model.architecture", one_of=("transformer",)),
    ] = "post"
    norm: Annotated[
        str,
        Field(description="What normalises the residual stream."),
        Axis(
            "norm",
            "3.1",
            changes(Effect.FORWARD, Effect.PARAMS),
            choices={
                "layer": "Ba et al. 2016",
                "rms": "Zhang & Sennrich 2019: no mean, no shift",
                "scale": "Nguyen & Salazar 2019: g x / |x|, one trained g, sqrt(d_model) at first",
                "batch": "Ioffe & Szegedy 2015, over the real tokens of a batch; running statistics in evaluation",
                "minmax": "(x - min) / (max - min) over the channels",
                "none": "no normalisation",
            },
        ),
        Needs("model.norm_placement", none_of=("rezero",)),
    ] = "layer"
    norm_epsilon: Annotated[
        float,
        Field(gt=0, le=0.1, description="Keeps a normalisation from dividing by zero."),
        Axis("norm epsilon", "3.1", changes(Effect.FORWARD), values=(1e-6, 1e-5, 1e-3)),
        _DIVIDES,
    ] = 1e-6
    norm_affine: Annotated[
        bool,
        Field(description="Norms have their trained scale (and shift, where the kind has one)."),
        Axis("norm affine", "3.1", changes(Effect.PARAMS), values=(True, False)),
        _SOME_NORM,
    ] = True
