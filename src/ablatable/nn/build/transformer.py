"""The Transformer, layer by layer (section 3.1)."""

from __future__ import annotations

from typing import Any

from torch import nn

from ablatable.config.model import Model
from ablatable.nn.attention import AttentionCore, CrossAttention, SelfAttention
from ablatable.nn.build.embeddings import embeddings, source_input, target_input
from ablatable.nn.build.layers import feed_forward, final_norm, residual
from ablatable.nn.relative import Relative, of_each_layer
from ablatable.nn.scores import KINDS
from ablatable.nn.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer, Transformer


def transformer(model: Model, source_vocabulary: int, target_vocabulary: int) -> Transformer:
    """An encoder-decoder of ``model.layers`` layers each; parameters are not set yet.

    Without cross-attention nothing would read the encoder, so there is none, and no input of its own.
    """
    source, target, output = embeddings(model, source_vocabulary, target_vocabulary)
    return Transformer(
        source_input=source_input(model, source) if model.cross_attention else None,
        target_input=target_input(model, target),
        encoder=_encoder(model) if model.cross_attention else None,
        decoder=_decoder(model),
        output=output,
        causal=model.causal,
        window=model.window,
    )


def _encoder(model: Model) -> Encoder:
    relatives = of_each_layer(model, causal=False)
    return Encoder((_encoder_layer(model, relative) for relative in relatives), final_norm(model))


def _decoder(model: Model) -> Decoder:
    relatives = of_each_layer(model, causal=model.causal)
    return Decoder((_decoder_layer(model, relative) for relative in relatives), final_norm(model))


def _encoder_layer(model: Model, relative: Relative | None) -> EncoderLayer:
    return EncoderLayer(_self_attention(model, relative), residual(model), *_feed_forward(model))


def _decoder_layer(model: Model, relative: Relative | None) -> DecoderLayer:
    cross = CrossAttention(**_sizes(model), core=_core(model)) if model.cross_attention else None
    return DecoderLayer(
        _self_attention(model, relative),
        residual(model),
        cross,
        None if cross is None else residual(model),
        *_feed_forward(model),
    )


def _feed_forward(model: Model) -> tuple[nn.Module | None, nn.Module | None]:
    part = feed_forward(model)
    return part, None if part is None else residual(model)


def _self_attention(model: Model, relative: Relative | None) -> SelfAttention:
    return SelfAttention(**_sizes(model), core=_core(model), relative=relative, window=model.window)


def _core(model: Model) -> AttentionCore:
    return AttentionCore(KINDS[model.score](model), model.dropout_attention)


def _sizes(model: Model) -> dict[str, Any]:
    return {
        "d_model": model.d_model,
        "heads": model.heads,
        "key_size": model.key_size,
        "value_size": model.value_size,
        "bias": model.attention_bias,
    }
