"""The number of parameters in closed form, without torch."""

from __future__ import annotations

from ablatable.config.model import Model
from ablatable.config.model.position import POSITIONED

TARGET_LANGUAGES = 32
"""Rows of the first public code's table of target languages."""


def parameter_count(model: Model, source_vocabulary: int, target_vocabulary: int) -> int:
    """Count the trainable parameters of ``build_model(model, source_vocabulary, target_vocabulary, ...)``.

    A matrix that is used in several places counts once; running statistics are no parameters. A decoder without
    cross-attention has no encoder beside it.

    Only values with parameters of their own are named here; a value that is not has those of the base. The tests
    compare the count of every value with the network it builds.
    """
    if model.architecture != "transformer":
        return _rival(model) + model.d_model * _embedding_rows(model, source_vocabulary, target_vocabulary)
    width = model.d_model
    attention = _attention(model) + _residual(model)
    feed_forward = 0 if model.ffn == "none" else _feed_forward(model) + _residual(model)
    stack = model.layers * (attention + feed_forward) + _final_norm(model)
    stacks = 2 * stack + model.layers * attention if model.cross_attention else stack
    return (
        stacks
        + width * _embedding_rows(model, source_vocabulary, target_vocabulary)
        + (2 if model.cross_attention else 1) * _positions(model)
        + width * (TARGET_LANGUAGES if model.target_language_table else 0)
    )


def _rival(model: Model) -> int:
    """All but the embeddings; the closed forms stand in :mod:`ablatable.config.model.matching`."""
    return model.rival_body + (2 * _positions(model) if model.architecture in POSITIONED else 0)


def _attention(model: Model) -> int:
    keys, values = model.heads * model.key_size, model.heads * model.value_size
    weights = 2 * model.d_model * keys + 2 * model.d_model * values
    biases = 2 * keys + values + model.d_model
    factor = 1 if model.score_scale == "learned" else 0
    score = {"dot": factor, "additive": keys, "cosine": 1}.get(model.score, 0)
    return weights + (biases if model.attention_bias else 0) + score


def _feed_forward(model: Model) -> int:
    """Weights and biases; all matrices but the last lead to the inner width."""
    width, inner = model.d_model, model.ffn_width
    return (model.ffn_matrices - 1) * (width * inner + inner) + inner * width + width


def _residual(model: Model) -> int:
    """What wraps one sub-layer: a norm or two, or a gate."""
    own = {"sandwich": 2 * _norm(model), "rezero": 1}
    return own.get(model.norm_placement, _norm(model))


def _final_norm(model: Model) -> int:
    return _norm(model) if model.norm_placement in ("pre", "sandwich") else 0


def _norm(model: Model) -> int:
    """A scale and a shift per channel, but for a scale alone, one number, or nothing."""
    if not model.norm_affine:
        return 0
    return {"rms": model.d_model, "scale": 1, "none": 0}.get(model.norm, 2 * model.d_model)


def _positions(model: Model) -> int:
    """Of one stack: Shaw's vectors are in each layer, all else is there once."""
    own = {
        "learned": model.d_model * model.position_max,
        "index": model.d_model if model.position_combine == "add" else 0,
        "alibi": model.heads if model.position_slopes == "learned" else 0,
        "shaw": model.layers * (2 * model.position_clip + 1) * (model.key_size + model.value_size),
        "t5": model.position_buckets * model.heads,
    }
    return own.get(model.position, 0) + model.d_model * concatenated_width(model)


def concatenated_width(model: Model) -> int:
    """Rows of the matrix that brings embeddings with positions beside them back to d_model; 0 where there is none."""
    if model.position_combine == "add":
        return 0
    return model.d_model + (1 if model.position == "index" else model.d_model)


def _embedding_rows(model: Model, source_vocabulary: int, target_vocabulary: int) -> int:
    own_source = source_vocabulary if model.cross_attention else 0
    matrices = {
        "three-way": source_vocabulary,
        "decoder": own_source + target_vocabulary,
        "source-target": source_vocabulary + target_vocabulary,
        "none": own_source + 2 * target_vocabulary,
    }
    return matrices[model.tying]
