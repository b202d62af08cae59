"""The convolutional encoder-decoder, layer by layer."""

from __future__ import annotations

from ablatable.config.model import Model
from ablatable.nn.build.embeddings import embeddings, source_input, target_input
from ablatable.nn.convolutional import (
    ConvolutionalDecoder,
    ConvolutionalDecoderLayer,
    ConvolutionalEncoder,
    ConvolutionalNetwork,
    GatedConvolution,
)
from ablatable.nn.dropout import Dropout
from ablatable.nn.linear import linear


def convolutional(model: Model, source_vocabulary: int, target_vocabulary: int) -> ConvolutionalNetwork:
    """Encoder and decoder of ``model.layers`` layers each; parameters are not set yet."""
    source, target, output = embeddings(model, source_vocabulary, target_vocabulary)
    width, channels = model.d_model, model.rival_size
    return ConvolutionalNetwork(
        source_input=source_input(model, source),
        target_input=target_input(model, target),
        encoder=ConvolutionalEncoder(
            into=linear(width, channels, bias=True),
            convolutions=[GatedConvolution(channels, model.kernel_size) for _ in range(model.layers)],
            out=linear(channels, width, bias=True),
            dropout=Dropout(model.dropout),
        ),
        decoder=ConvolutionalDecoder(
            into=linear(width, channels, bias=True),
            layers=[_decoder_layer(model) for _ in range(model.layers)],
            out=linear(channels, width, bias=True),
            dropout=Dropout(model.dropout),
        ),
        output=output,
    )


def _decoder_layer(model: Model) -> ConvolutionalDecoderLayer:
    width, channels = model.d_model, model.rival_size
    return ConvolutionalDecoderLayer(
        GatedConvolution(channels, model.kernel_size),
        query=linear(channels, width, bias=True),
        context=linear(width, channels, bias=True),
        dropout=Dropout(model.dropout),
    )
