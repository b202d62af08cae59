"""Rivals of the Transformer: recurrent, convolutional, and a bag of words."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes
from ablatable.config.model.matching import (
    bag_body,
    convolutional_body,
    nearest_width,
    recurrent_body,
    transformer_body,
)
from ablatable.config.model.shape import ShapeChoices

_SHAPE = changes(Effect.FORWARD, Effect.PARAMS)
_RNN = Needs("model.architecture", one_of=("rnn",))
_BAG = Needs("model.architecture", one_of=("bag",))


@dataclass(frozen=True, kw_only=True)
class RivalChoices(ShapeChoices):
    """What architectures other than the Transformer have."""

    rival_width: Annotated[
        int | None,
        Field(
            ge=2,
            le=65536,
            description="Inner width: recurrent state, channels or hidden layer; null means as many parameters as the "
            "Transformer with d_ff = 4 d_model, embeddings left out.",
        ),
        Axis("inner width", "4", _SHAPE, values=(128, 256, 512), scales="width", search=(64, 1024, "log")),
        Needs("model.architecture", one_of=("rnn", "convolutional", "bag")),
    ] = None
    rnn_cell: Annotated[
        str,
        Field(description="The recurrent cell."),
        Axis(
            "recurrent cell",
            "1",
            _SHAPE,
            choices={
                "lstm": "Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000",
                "gru": "Cho et al. 2014, the reset gate after the recurrent product",
            },
        ),
        _RNN,
    ] = "lstm"
    rnn_attention: Annotated[
        str,
        Field(description="How the source reaches a recurrent decoder."),
        Axis(
            "recurrent attention",
            "2",
            _SHAPE,
            choices={
                "additive": "Bahdanau et al. 2015; asked by the lowest decoder layer (Wu et al. 2016), not fed back",
                "none": "Sutskever et al. 2014: the encoder's last state starts the decoder, nothing else",
            },
        ),
        _RNN,
    ] = "additive"
    kernel_size: Annotated[
        int,
        Field(
            ge=1,
            le=63,
            description="Positions a convolution reads, k odd: around its own in the encoder, up to it in the decoder.",
        ),
        Axis("kernel size k", "4", _SHAPE, values=(1, 3, 5, 7)),
        Needs("model.architecture", one_of=("convolutional",)),
    ] = 3
    bag: Annotated[
        str,
        Field(description="How the bag's decoder reads the previous target embeddings."),
        Axis(
            "window embeddings",
            "beyond the paper",
            _SHAPE,
            choices={
                "average": "one mean vector: order within the window is lost",
                "concatenate": "Bengio et al. 2003: one weight matrix a place",
            },
        ),
        Needs("model.bag_window", above=1),
    ] = "concatenate"
    bag_window: Annotated[
        int,
        Field(ge=1, le=64, description="Previous target pieces that the bag's decoder reads."),
        Axis("window", "beyond the paper", _SHAPE, values=(1, 3, 5), search=(1, 8)),
        _BAG,
    ] = 5

    @property
    def rival_size(self) -> int:
        """The inner width, resolved; of a rival only."""
        if self.rival_width is not None:
            return self.rival_width
        step = 2 if self.architecture == "rnn" else 1
        return nearest_width(transformer_body(self.layers, self.d_model), self._body, step)

    @property
    def rnn_gates(self) -> int:
        """Gates of a recurrent cell, each with an input and a recurrent matrix."""
        return {"lstm": 4, "gru": 3}[self.rnn_cell]

    @property
    def rnn_parts(self) -> int:
        """Vectors in the state of a recurrent cell."""
        return {"lstm": 2, "gru": 1}[self.rnn_cell]

    @property
    def bag_places(self) -> int:
        """Target vectors that the bag's first layer reads side by side."""
        return {"average": 1, "concatenate": self.bag_window}[self.bag]

    @property
    def rival_body(self) -> int:
        """Parameters but for embeddings, positions and output projection; of a rival only."""
        return self._body(self.rival_size)

    def _body(self, width: int) -> int:
        if self.architecture == "rnn":
            attention = self.rnn_attention == "additive"
            return recurrent_body(self.layers, self.d_model, width, self.rnn_gates, self.rnn_parts, attention)
        if self.architecture == "convolutional":
            return convolutional_body(self.layers, self.d_model, width, self.kernel_size)
        return bag_body(self.layers, self.d_model, width, self.bag_places)

    def _check_rival(self) -> None:
        if self.architecture == "rnn" and self.rival_width is not None and self.rival_width % 2:
            raise ValueError(
                f"model.rival_width={self.rival_width} is odd and the two directions of a recurrent encoder halve it; "
                f"choose {self.rival_width - 1} or {self.rival_width + 1}"
            )
        if self.architecture == "convolutional" and self.kernel_size % 2 == 0:
            raise ValueError(
                f"model.kernel_size={self.kernel_size} is even and has no middle; "
                f"choose {self.kernel_size - 1} or {self.kernel_size + 1}"
            )
