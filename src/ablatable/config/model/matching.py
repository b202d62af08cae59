"""Which inner width gives a rival as many parameters as the Transformer it is compared with.

Closed forms, embeddings, positions and output projection left out: those are the same matrices in all architectures.
L layers, d d_model, h the rival's inner width.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

_WIDEST = 1 << 20


def transformer_body(layers: int, d_model: int) -> int:
    """The paper's layers with d_ff = 4 d and biases: L (28 d^2 + 32 d).

    Attention has 4 d^2 + 4 d, feed-forward 8 d^2 + 5 d, a norm 2 d; an encoder layer one, one and two of them, a
    decoder layer two, one and three.
    """
    return layers * (28 * d_model**2 + 32 * d_model)


def recurrent_body(layers: int, d_model: int, width: int, gates: int, parts: int, attention: bool) -> int:
    """LSTM (4 gates, a state of 2 parts) or GRU (3, 1); see :mod:`ablatable.nn.recurrent` for what stands where."""

    def cell(inputs: int, hidden: int) -> int:
        return gates * (inputs * hidden + hidden * hidden + 2 * hidden)

    half, context = width // 2, width if attention else 0
    encoder = 2 * (cell(d_model, half) + (layers - 1) * cell(width, half))
    bridge = layers * parts * (width * width + width)
    decoder = cell(d_model, width) + (layers - 1) * cell(width + context, width)
    scores = 2 * width * width + width if attention else 0
    output = (width + context) * d_model + d_model
    return encoder + bridge + decoder + scores + output


def convolutional_body(layers: int, d_model: int, width: int, kernel: int) -> int:
    """Gated convolutions h to 2 h in both stacks, attention of width d in each decoder layer, maps d to h and back."""
    convolution = kernel * width * 2 * width + 2 * width
    attention = 2 * d_model * width + d_model + width
    ends = 2 * d_model * width + d_model + width
    return layers * (2 * convolution + attention) + 2 * ends


def bag_body(layers: int, d_model: int, width: int, window: int) -> int:
    """L hidden layers over the source's bag and ``window`` target vectors (1 where they are averaged)."""
    first = (1 + window) * d_model * width + width
    return first + (layers - 1) * (width * width + width) + width * d_model + d_model


def nearest_width(target: int, count: Callable[[int], int], step: int) -> int:
    """The multiple of ``step`` whose ``count`` is nearest to ``target``, the smaller of two equally near.

    ``count`` grows with the width.
    """
    widths = range(step, _WIDEST, step)
    above = bisect_left(widths, target, key=count)
    around = widths[max(above - 1, 0) : above + 1]
    return min(around, key=lambda width: abs(count(width) - target))
