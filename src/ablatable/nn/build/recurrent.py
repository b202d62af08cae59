"""The recurrent encoder-decoder, layer by layer."""

from __future__ import annotations

from ablatable.config.model import Model
from ablatable.nn.build.embeddings import embeddings
from ablatable.nn.build.orderless import orderless_input
from ablatable.nn.cells import KINDS
from ablatable.nn.dropout import Dropout
from ablatable.nn.linear import linear
from ablatable.nn.recurrent import (
    AdditiveAttention,
    BidirectionalLayer,
    RecurrentDecoder,
    RecurrentEncoder,
    RecurrentNetwork,
)

ATTENTION = {"additive": AdditiveAttention, "none": None}
"""How the source reaches the decoder besides its first states, by ``model.rnn_attention``."""


def recurrent(model: Model, source_vocabulary: int, target_vocabulary: int) -> RecurrentNetwork:
    """Encoder and decoder of ``model.layers`` layers each; parameters are not set yet."""
    source, target, output = embeddings(model, source_vocabulary, target_vocabulary)
    kind = ATTENTION[model.rnn_attention]
    attention = None if kind is None else kind(model.rival_size)
    cell = KINDS[model.rnn_cell]
    parts = cell.parts
    return RecurrentNetwork(
        source_input=orderless_input(model, source),
        target_input=orderless_input(model, target),
        encoder=_encoder(model),
        bridges=[linear(model.rival_size, parts * model.rival_size, bias=True) for _ in range(model.layers)],
        decoder=_decoder(model, 0 if attention is None else model.rival_size),
        attention=attention,
        output=output,
        parts=parts,
    )


def _encoder(model: Model) -> RecurrentEncoder:
    cell, width = KINDS[model.rnn_cell], model.rival_size
    inputs = [model.d_model] + [width] * (model.layers - 1)
    return RecurrentEncoder(
        [BidirectionalLayer(cell(read, width // 2), cell(read, width // 2)) for read in inputs], Dropout(model.dropout)
    )


def _decoder(model: Model, context: int) -> RecurrentDecoder:
    cell, width = KINDS[model.rnn_cell], model.rival_size
    inputs = [model.d_model] + [width + context] * (model.layers - 1)
    return RecurrentDecoder(
        [cell(read, width) for read in inputs],
        Dropout(model.dropout),
        linear(width + context, model.d_model, bias=True),
    )
