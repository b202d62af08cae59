"""The arithmetic of training, without torch.

Convention: one multiply-add is two floating-point operations; only matrix products count (projections,
feed-forward, attention scores and contexts, output logits), not softmax, norms, biases, embeddings' look-up
or the optimiser; the backward pass costs twice the forward pass. A causal score matrix counts in full, as
it is computed, and so does that of a window. Of the additive score the product of the hidden layer with its vector
counts, as much as a dot product; making the layer does not. Padding does not count. Attention's quadratic part is
taken at one mean length for both sides.
"""

from __future__ import annotations

from ablatable.config.model import Model
from ablatable.nn.cost_rivals import forward_cost
from ablatable.nn.count import concatenated_width

MEAN_LENGTH = 30.0
"""Pieces per sentence assumed for attention's quadratic part; about that of WMT14 with 37,000 shared
pieces."""


def training_flops(
    model: Model,
    vocabulary: int,
    source_tokens: float,
    target_tokens: float,
    mean_length: float = MEAN_LENGTH,
) -> float:
    """Return the floating-point operations of forward and backward passes over so many tokens.

    Args:
        model: the architecture.
        vocabulary: pieces of the target vocabulary.
        source_tokens: source pieces read in training, all updates together, padding left out.
        target_tokens: target pieces read in training, likewise.
        mean_length: pieces per sentence on either side.
    """
    if model.architecture != "transformer":
        return _rival(model, vocabulary, source_tokens, target_tokens, mean_length)
    positions = _positions(model, mean_length)
    source = model.layers * _per_source_token(model, mean_length) + positions if model.cross_attention else 0.0
    target = model.layers * _per_target_token(model, mean_length) + positions + 2.0 * model.d_model * vocabulary
    return 3.0 * (source * source_tokens + target * target_tokens)


def _rival(model: Model, vocabulary: int, source_tokens: float, target_tokens: float, mean_length: float) -> float:
    cost = forward_cost(model, mean_length)
    target = cost.target_token + 2.0 * model.d_model * vocabulary
    sentences = source_tokens / mean_length
    return 3.0 * (cost.source_token * source_tokens + target * target_tokens + cost.sentence * sentences)


def _per_source_token(model: Model, mean_length: float) -> float:
    """One encoder layer, and the keys and values of one decoder layer's cross-attention."""
    width, keys, values = _widths(model)
    self_attention = 2 * width * (2 * keys + 2 * values) + 2 * mean_length * (keys + values)
    memory = 2 * width * (keys + values)
    return self_attention + memory + _feed_forward(model)


def _per_target_token(model: Model, mean_length: float) -> float:
    """One decoder layer but for the keys and values of its cross-attention."""
    width, keys, values = _widths(model)
    self_attention = 2 * width * (2 * keys + 2 * values) + 2 * mean_length * (keys + values)
    cross_attention = 2 * width * (keys + values) + 2 * mean_length * (keys + values)
    return self_attention + (cross_attention if model.cross_attention else 0) + _feed_forward(model)


def _positions(model: Model, mean_length: float) -> float:
    """One token in all of its stack: Shaw's vectors in self-attention, and the matrix of concatenated encodings."""
    _, keys, values = _widths(model)
    vectors = model.layers * 2 * mean_length * (keys + values) if model.position == "shaw" else 0.0
    return vectors + 2 * model.d_model * concatenated_width(model)


def _feed_forward(model: Model) -> int:
    return 2 * model.ffn_matrices * model.d_model * model.ffn_width


def _widths(model: Model) -> tuple[int, int, int]:
    return model.d_model, model.heads * model.key_size, model.heads * model.value_size
