"""The kind of model and its size (section 3.1)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, changes

_SHAPE = changes(Effect.FORWARD, Effect.PARAMS)


@dataclass(frozen=True, kw_only=True)
class ShapeChoices:
    """What every architecture has."""

    architecture: Annotated[
        str,
        Field(description="The kind of encoder and decoder; all share data, loss, search and scoring."),
        Axis(
            "architecture",
            "3",
            _SHAPE,
            choices={
                "transformer": "Vaswani et al. 2017",
                "rnn": "Sutskever et al. 2014, Bahdanau et al. 2015: LSTM or GRU encoder and decoder",
                "convolutional": "Gehring et al. 2017: gated convolutions, attention in each decoder layer",
                "bag": "Bengio et al. 2003, Rush et al. 2015: feed-forward over a window and a bag of the source",
            },
        ),
    ] = "transformer"
    layers: Annotated[
        int,
        Field(ge=1, le=64, description="Layers of the encoder and of the decoder."),
        Axis("N", "3.1", _SHAPE, values=(2, 4, 6, 8), scales="depth", search=(1, 8)),
    ] = 6
    d_model: Annotated[
        int,
        Field(ge=2, le=16384, description="Width of the residual stream, of embeddings and of hidden states."),
        Axis("d_model", "3.1", _SHAPE, values=(256, 512, 1024), scales="width", search=(64, 1024, "log")),
    ] = 512
