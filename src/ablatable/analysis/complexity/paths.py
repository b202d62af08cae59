"""The maximum path length, measured: how often a layer must be applied until position 0 reaches position n - 1.

Layers are stacked one by one, each with initial values of its own. After each, the gradient of the last position's
output with respect to the first position's input is either exactly zero, because no chain of operations leads there, or
it is not; the first depth where it is not is the length. In double precision, since a gradient that vanished by
underflow would be taken for none.

The recurrent layer is applied step by step, to all positions at once: each step hands every state on by one position,
so that after j of them a state holds what its last j + 1 inputs left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from ablatable.analysis.complexity.layers import causal, centred, self_attention
from ablatable.errors import RunFailed
from ablatable.nn.cells import CellState, Lstm, recur
from ablatable.nn.init import initialise
from ablatable.nn.masks import EVERYTHING

WIDTH = 8
"""d of these layers; a path is as long at any width."""


def measure(kind: str, n: int, size: int) -> int:
    """Layers (of the recurrent: steps) until position 0 influences position n - 1; ``kind`` is one of theory.PATHS.

    Raises:
        RunFailed: it does not within n layers.
    """
    draw = torch.Generator().manual_seed(n * 8191 + size)
    x_1TD = torch.randn(1, n, WIDTH, generator=draw, dtype=torch.float64).requires_grad_()
    weigh_D = torch.randn(WIDTH, generator=draw, dtype=torch.float64)
    stack = _steps(x_1TD) if kind == "recurrent" else _stack(_maker(kind, size), x_1TD)
    for depth in range(n + 1):
        (gradient_1TD,) = torch.autograd.grad(next(stack)[0, -1] @ weigh_D, x_1TD, retain_graph=True)
        if bool(gradient_1TD[0, 0].any()):
            return depth
    raise RunFailed(f"{kind}, n={n}, size {size}: position 0 does not influence position {n - 1} within {n} layers")


def _maker(kind: str, size: int) -> Callable[[int], nn.Module]:
    """What makes the layer of a stack by its number, from 0."""
    makers: dict[str, Callable[[int], nn.Module]] = {
        "self-attention": lambda _: self_attention(WIDTH, 2, None),
        "restricted": lambda _: self_attention(WIDTH, 2, size),
        "convolutional": lambda _: causal(WIDTH, size),
        "convolutional-centred": lambda _: centred(WIDTH, size),
        "dilated": lambda number: causal(WIDTH, size, dilation=size**number),
    }
    return makers[kind]


def _stack(make: Callable[[int], nn.Module], x_1TD: Tensor) -> Iterator[Tensor]:
    """The input, then the output of every further layer."""
    number = 0
    while True:
        yield x_1TD
        layer = make(number)
        initialise(layer, seed=number)
        layer.double()
        x_1TD = layer(x_1TD, EVERYTHING) if hasattr(layer, "qkv") else layer(x_1TD)
        number += 1


def _steps(x_1TD: Tensor) -> Iterator[Tensor]:
    """The states (1, T, D) that each position's own input makes, then those after every further step."""
    cell = Lstm(WIDTH, WIDTH)
    initialise(cell, seed=1)
    cell.double()
    x_T1D, state = x_1TD.transpose(0, 1), None
    while True:
        _, state = recur(cell, x_T1D, state)
        yield state[0][None]
        state = _handed_on(state)


def _handed_on(state: CellState) -> CellState:
    """Each position's state as the next one's; the first starts from zeros."""
    return tuple(torch.cat((torch.zeros_like(part_TD[:1]), part_TD[:-1])) for part_TD in state)
