"""From ``config.model`` to a Transformer: its only reader, one function per part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from torch import nn

from ablatable.config.model import Model
from ablatable.errors import InputError, nearest
from ablatable.nn.attention import CrossAttention, ScaledDotProduct, SelfAttention
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import Embedding, OwnOutput, StackInput, TargetLanguage, TiedOutput
from ablatable.nn.ffn import ReluFeedForward
from ablatable.nn.init import initialise
from ablatable.nn.norms import LayerNorm
from ablatable.nn.positions import LearnedPositions, NoPositions, SinusoidalPositions, halves, interleaved
from ablatable.nn.residual import PostNorm
from ablatable.nn.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer, Transformer


def build_model(model: Model, source_vocabulary: int, target_vocabulary: int, seed: int) -> Transformer:
    """Build the Transformer that ``model`` describes, with initial values from ``seed`` and the parameters'
    names.

    The global random generator is not touched.

    Raises:
        InputError: a value this version cannot build, or embeddings tied over vocabularies of different size.
    """
    source, target, output = _embeddings(model, source_vocabulary, target_vocabulary)
    transformer = Transformer(
        source_input=StackInput(source, _positions(model), Dropout(model.dropout), _target_language(model)),
        target_input=StackInput(target, _positions(model), Dropout(model.dropout)),
        encoder=Encoder(_encoder_layer(model) for _ in range(model.layers)),
        decoder=Decoder(_decoder_layer(model) for _ in range(model.layers)),
        output=output,
    )
    initialise(transformer, seed)
    return transformer


def _embeddings(
    model: Model, source_vocabulary: int, target_vocabulary: int
) -> tuple[Embedding, Embedding, OwnOutput | TiedOutput]:
    source = Embedding(source_vocabulary, model.d_model)
    match model.tying:
        case "three-way":
            _same_vocabulary(model.tying, source_vocabulary, target_vocabulary)
            return source, source, TiedOutput(source)
        case "source-target":
            _same_vocabulary(model.tying, source_vocabulary, target_vocabulary)
            return source, source, OwnOutput(target_vocabulary, model.d_model)
        case "decoder":
            target = Embedding(target_vocabulary, model.d_model)
            return source, target, TiedOutput(target)
        case "none":
            target = Embedding(target_vocabulary, model.d_model)
            return source, target, OwnOutput(target_vocabulary, model.d_model)
        case _:
            return _refuse("model.tying", model.tying, ("three-way", "decoder", "source-target", "none"))


def _same_vocabulary(tying: str, source_vocabulary: int, target_vocabulary: int) -> None:
    if source_vocabulary != target_vocabulary:
        raise InputError(
            f"model.tying={tying} needs one vocabulary, but the source has {source_vocabulary} pieces and "
            f"the target {target_vocabulary}; set tokenizer.sharing=shared, or model.tying to decoder or none"
        )


def _target_language(model: Model) -> TargetLanguage | None:
    return TargetLanguage(model.d_model) if model.target_language_table else None


def _positions(model: Model) -> nn.Module:
    match model.position:
        case "sinusoidal":
            return _sinusoidal(model)
        case "learned":
            return LearnedPositions(model.d_model, model.position_max)
        case "none":
            return NoPositions()
        case _:
            return _refuse("model.position", model.position, ("sinusoidal", "learned", "none"))


def _sinusoidal(model: Model) -> SinusoidalPositions:
    match model.position_layout:
        case "interleaved":
            return SinusoidalPositions(model.d_model, interleaved)
        case "halves":
            return SinusoidalPositions(model.d_model, halves)
        case _:
            return _refuse("model.position_layout", model.position_layout, ("interleaved", "halves"))


def _encoder_layer(model: Model) -> EncoderLayer:
    return EncoderLayer(
        self_attention=_self_attention(model),
        self_residual=_residual(model),
        feed_forward=_feed_forward(model),
        feed_forward_residual=_residual(model),
    )


def _decoder_layer(model: Model) -> DecoderLayer:
    return DecoderLayer(
        self_attention=_self_attention(model),
        self_residual=_residual(model),
        cross_attention=_cross_attention(model),
        cross_residual=_residual(model),
        feed_forward=_feed_forward(model),
        feed_forward_residual=_residual(model),
    )


def _self_attention(model: Model) -> SelfAttention:
    return SelfAttention(
        model.d_model, model.heads, model.key_size, model.value_size, model.attention_bias, ScaledDotProduct()
    )


def _cross_attention(model: Model) -> CrossAttention:
    return CrossAttention(
        model.d_model, model.heads, model.key_size, model.value_size, model.attention_bias, ScaledDotProduct()
    )


def _residual(model: Model) -> PostNorm:
    return PostNorm(LayerNorm(model.d_model, model.norm_epsilon), Dropout(model.dropout))


def _feed_forward(model: Model) -> ReluFeedForward:
    return ReluFeedForward(model.d_model, model.d_ff)


def _refuse(key: str, value: object, known: Iterable[str]) -> NoReturn:
    names = list(known)
    raise InputError(f"{key}={value!r} cannot be built; use one of {', '.join(names)}{nearest(str(value), names)}")
