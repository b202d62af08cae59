"""The number of parameters in closed form, without torch."""

from __future__ import annotations

from ablatable.config.model import Model

TARGET_LANGUAGES = 32
"""Rows of the first public code's table of target languages."""


def parameter_count(model: Model, source_vocabulary: int, target_vocabulary: int) -> int:
    """Count the trainable parameters of ``build_model(model, source_vocabulary, target_vocabulary, ...)``.

    A matrix that is used in several places counts once. Norms carry 2 d_model each: two per encoder layer,
    three per decoder layer, none at the end of a stack.
    """
    width, inner = model.d_model, model.d_ff
    attention = _attention(model)
    feed_forward = 2 * width * inner + inner + width
    encoder_layer = attention + feed_forward + 2 * 2 * width
    decoder_layer = 2 * attention + feed_forward + 3 * 2 * width
    return (
        model.layers * (encoder_layer + decoder_layer)
        + width * _embedding_rows(model, source_vocabulary, target_vocabulary)
        + width * (2 * model.position_max if model.position == "learned" else 0)
        + width * (TARGET_LANGUAGES if model.target_language_table else 0)
    )


def _attention(model: Model) -> int:
    keys, values = model.heads * model.key_size, model.heads * model.value_size
    weights = 2 * model.d_model * keys + 2 * model.d_model * values
    biases = 2 * keys + values + model.d_model
    return weights + (biases if model.attention_bias else 0)


def _embedding_rows(model: Model, source_vocabulary: int, target_vocabulary: int) -> int:
    matrices = {
        "three-way": source_vocabulary,
        "decoder": source_vocabulary + target_vocabulary,
        "source-target": source_vocabulary + target_vocabulary,
        "none": source_vocabulary + 2 * target_vocabulary,
    }
    return matrices[model.tying]
