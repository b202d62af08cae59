"""The arithmetic of the Transformer's rivals, without torch; the convention is that of :mod:`ablatable.nn.cost`."""

from __future__ import annotations

from dataclasses import dataclass

from ablatable.config.model import Model
from ablatable.nn.count import concatenated_width


@dataclass(frozen=True)
class ForwardCost:
    """Floating-point operations of one forward pass, output logits left out."""

    source_token: float
    target_token: float
    sentence: float


def forward_cost(model: Model, mean_length: float) -> ForwardCost:
    """The matrix products of a rival; recurrent ones count like others. ``mean_length``: source pieces a sentence."""
    return {"rnn": _recurrent, "convolutional": _convolutional, "bag": _bag}[model.architecture](model, mean_length)


def _recurrent(model: Model, mean_length: float) -> ForwardCost:
    width, half, depth = model.rival_size, model.rival_size // 2, model.layers - 1
    gates, parts = model.rnn_gates, model.rnn_parts
    context = width if model.rnn_attention == "additive" else 0

    def cell(inputs: int, hidden: int) -> int:
        return 2 * gates * hidden * (inputs + hidden)

    keys = 2 * width * context
    query, scores_and_context = 2 * width * context, 2 * mean_length * 2 * context
    return ForwardCost(
        source_token=2 * (cell(model.d_model, half) + depth * cell(width, half)) + keys,
        target_token=cell(model.d_model, width)
        + depth * cell(width + context, width)
        + query
        + scores_and_context
        + 2 * (width + context) * model.d_model,
        sentence=2 * model.layers * parts * width * width,
    )


def _convolutional(model: Model, mean_length: float) -> ForwardCost:
    width, channels = model.d_model, model.rival_size
    embedded = 2 * width * concatenated_width(model)
    ends = 2 * 2 * width * channels
    convolution = 2 * model.kernel_size * channels * 2 * channels
    attention = 2 * 2 * width * channels + 2 * mean_length * 2 * width
    return ForwardCost(
        source_token=embedded + ends + model.layers * convolution,
        target_token=embedded + ends + model.layers * (convolution + attention),
        sentence=0.0,
    )


def _bag(model: Model, mean_length: float) -> ForwardCost:
    width, hidden = model.d_model, model.rival_size
    first, last = 2 * model.bag_places * width * hidden, 2 * hidden * width
    return ForwardCost(
        source_token=0.0,
        target_token=first + 2 * (model.layers - 1) * hidden * hidden + last,
        sentence=2 * width * hidden,
    )
