"""The paper's Table 1 (section 4), row by row, and the closed form of every count that can be exact.

A layer maps a sequence of n vectors of width d to another one; k is a convolution's kernel, r a window's size. No torch
here: tables and pictures are made from these and the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperRow:
    """A row of Table 1 as printed."""

    title: str
    complexity: str
    sequential: str
    path: str


PAPER = {
    "self-attention": PaperRow("Self-Attention", "O(n² d)", "O(1)", "O(1)"),
    "recurrent": PaperRow("Recurrent", "O(n d²)", "O(n)", "O(n)"),
    "convolutional": PaperRow("Convolutional", "O(k n d²)", "O(1)", "O(log_k n)"),
    "restricted": PaperRow("Self-Attention (restricted)", "O(r n d)", "O(1)", "O(n/r)"),
}
"""Vaswani et al. 2017, Table 1. The path of the third row is that of dilated convolutions; contiguous kernels need
O(n/k) layers, as section 4 says."""


@dataclass(frozen=True)
class Layer:
    """A layer that is measured.

    Args:
        title: as tables and pictures name it.
        paper: the row of ``PAPER`` it belongs to.
        formula: its operations, b the queries of a block.
        exponents: of n and of d in its operations; None for a sum of terms, which has no exponents.
        memory: of n in its peak memory.
        products: how many products of matrices follow upon one another, whatever n; None: n of them, one a position.
    """

    title: str
    paper: str
    formula: str
    exponents: tuple[int, int] | None
    memory: int
    products: int | None

    def steps(self, n: int) -> int:
        """Products that must follow upon one another for n positions."""
        return n if self.products is None else self.products


LAYERS = {
    "self-attention": Layer("self-attention", "self-attention", "4 n² d", (2, 1), 2, 2),
    "recurrent": Layer("recurrent (LSTM)", "recurrent", "16 n d²", (1, 2), 1, None),
    "convolutional": Layer("convolution", "convolutional", "4 k n d²", (1, 2), 1, 1),
    "dilated": Layer("dilated convolution", "convolutional", "4 k n d²", (1, 2), 1, 1),
    "restricted": Layer("restricted, in blocks", "restricted", "4 (r + b - 1) n d", (1, 1), 1, 2),
    "restricted-masked": Layer("restricted by a mask", "restricted", "4 n² d", (2, 1), 2, 2),
    "self-attention-projected": Layer("self-attention + projections", "self-attention", "4 n² d + 8 n d²", None, 2, 4),
    "restricted-projected": Layer("restricted + projections", "restricted", "4 (r + b - 1) n d + 8 n d²", None, 1, 4),
}
"""Attention stands twice: softmax(Q K^T) V alone, which is what the paper counts, and with the projections to Q, K, V
and back, 8 n d² operations more. A window stands twice too: as these models compute it, all n² scores of which a mask
leaves r a row, and in blocks around the diagonal, without which r n d would be a claim about nothing that runs."""


def operations(layer: str, n: int, d: int, kernel: int, window: int) -> int:
    """``Layer.formula``: the products of one layer, two a multiply-add; n a multiple of a block, d of a head.

    An LSTM has four gates with two matrices each, the convolution here is gated, so twice as wide, and blocks of b
    queries read b + r - 1 keys each.
    """
    projections = 8 * n * d * d
    blocks = 4 * n * (block(window) + window - 1) * d
    return {
        "self-attention": 4 * n * n * d,
        "recurrent": 16 * n * d * d,
        "convolutional": 4 * kernel * n * d * d,
        "dilated": 4 * kernel * n * d * d,
        "restricted": blocks,
        "restricted-masked": 4 * n * n * d,
        "self-attention-projected": 4 * n * n * d + projections,
        "restricted-projected": blocks + projections,
    }[layer]


HEAD = 64
"""d_k = d_v of the paper's models: the width of every head here."""


def data_bytes(layer: str, n: int, d: int) -> int:
    """What a call of a layer reads and writes beside its weights and grows with n, in float32.

    Full attention: a score for each pair of positions and head. The others: four vectors of width d a position, the
    input, what a product makes of it (a gated convolution's is twice as wide), and the output.
    """
    if LAYERS[layer].memory == 2:
        return 4 * n * n * (d // HEAD)
    return 4 * 4 * n * d


DILATION = 4
"""How far apart the places of the dilated convolution are whose cost is measured. Any other costs as much; this one
divides every n that is measured, so that no position is filled up."""


def block(window: int) -> int:
    """Queries of one block of the banded computation: a power of two, no more than the window reaches to one side."""
    reach = (window - 1) // 2
    return 1 << min(6, max(1, reach).bit_length() - 1)


PATHS = {
    "self-attention": "1",
    "recurrent": "n - 1",
    "convolutional": "⌈(n - 1) / (k - 1)⌉",
    "convolutional-centred": "⌈(n - 1) / ((k - 1) / 2)⌉",
    "dilated": "⌈log_k n⌉",
    "restricted": "⌈(n - 1) / ((r - 1) / 2)⌉",
}
"""The maximum path length in closed form: how often a layer (of the recurrent: its step) must be applied until position
0 reaches position n - 1, n above 1. ``convolutional`` reads the k positions that end at its own, as the decoder's do;
``convolutional-centred`` the k around it, as the encoder's do; layer i of ``dilated`` (from 0) reads k positions k^i
apart that end at its own."""


def path_length(kind: str, n: int, size: int) -> int:
    """The closed form; ``size`` is k or r, and means nothing to the first two."""
    if n == 1:
        return 0
    match kind:
        case "self-attention":
            return 1
        case "recurrent":
            return n - 1
        case "convolutional":
            return _quotient(n - 1, size - 1)
        case "convolutional-centred" | "restricted":
            return _quotient(n - 1, (size - 1) // 2)
        case "dilated":
            layers, reached = 0, 1
            while reached < n:
                layers, reached = layers + 1, reached * size
            return layers
        case _:
            raise ValueError(f"no path of kind {kind!r}")


def _quotient(length: int, reach: int) -> int:
    return -(-length // reach)
