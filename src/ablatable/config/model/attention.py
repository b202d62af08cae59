"""Attention (sections 3.2 and 4): how queries meet keys, and which keys they may see."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

_SHAPE = changes(Effect.FORWARD, Effect.PARAMS)
_TRANSFORMER = Needs("model.architecture", one_of=("transformer",))


@dataclass(frozen=True, kw_only=True)
class AttentionChoices:
    """Every attention sub-layer of a Transformer."""

    heads: Annotated[
        int,
        Field(ge=1, le=256, description="Attention heads, h."),
        Axis("h", "3.2.2", _SHAPE, values=(1, 4, 8, 16, 32), search=(1, 32, "log")),
        _TRANSFORMER,
    ] = 8
    d_k: Annotated[
        int | None,
        Field(ge=1, le=16384, description="Width of one head's queries and keys; null means d_model / heads."),
        Axis("d_k", "3.2.1", _SHAPE, values=(16, 32, 64), scales="width", search=(4, 128, "log")),
        _TRANSFORMER,
    ] = None
    d_v: Annotated[
        int | None,
        Field(ge=1, le=16384, description="Width of one head's values; null means d_model / heads."),
        Axis("d_v", "3.2.2", _SHAPE, values=(32, 64), scales="width", search=(4, 128, "log")),
        _TRANSFORMER,
    ] = None
    attention_bias: Annotated[
        bool,
        Field(description="Biases in the query, key, value and output projections."),
        Axis("attention bias", "3.2.2", changes(Effect.PARAMS), values=(True, False)),
        _TRANSFORMER,
    ] = True
    score: Annotated[
        str,
        Field(description="The compatibility of a query with a key."),
        Axis(
            "score",
            "3.2.1",
            _SHAPE,
            choices={
                "dot": "Vaswani et al. 2017, section 3.2.1; Luong et al. 2015",
                "additive": "Bahdanau et al. 2015: v . tanh(q + k) with one hidden layer of width d_k, never scaled",
                "cosine": "Henry et al. 2020: a learned factor times the cosine of query and key",
            },
        ),
        _TRANSFORMER,
    ] = "dot"
    score_scale: Annotated[
        str,
        Field(description="What the dot product is multiplied by before softmax."),
        Axis(
            "score scale",
            "3.2.1",
            _SHAPE,
            choices={
                "1/sqrt(d_k)": "Vaswani et al. 2017, section 3.2.1 and footnote 4",
                "none": "Luong et al. 2015; section 3.2.1 on what it does to softmax",
                "1/d_k": "Yang et al. 2022, the scale at which scores keep their size as d_k grows",
                "1/sqrt(d_model)": "a common slip: the width of the model in place of a head's",
                "learned": "one trained factor a sub-layer, 1/sqrt(d_k) at first",
            },
        ),
        Needs("model.score", one_of=("dot",)),
    ] = "1/sqrt(d_k)"
    window: Annotated[
        int | None,
        Field(
            ge=3,
            le=65535,
            description="Self-attention sees r positions centred on the query's own, r odd; null means all.",
        ),
        Axis("window r", "4", changes(Effect.FORWARD), values=(3, 5, 9), search=(3, 65, "log")),
        _TRANSFORMER,
    ] = None
    causal: Annotated[
        bool,
        Field(description="The decoder hides the future in training; without it perplexity leaks the answer."),
        Axis("causal mask", "3.2.3", changes(Effect.FORWARD), values=(True, False)),
        _TRANSFORMER,
    ] = True
    cross_attention: Annotated[
        bool,
        Field(
            description="The decoder reads the encoder's output; without it, it is a language model, with no encoder."
        ),
        # INIT: initial values go by name, and a matrix shared with the source bears the source's name.
        Axis("cross-attention", "3.2.3", changes(Effect.FORWARD, Effect.PARAMS, Effect.INIT), values=(True, False)),
        _TRANSFORMER,
    ] = True
