"""The layers under measurement, each put together of this package's own modules.

All read one sequence (1, n, d). Attention has heads of 64, as the paper's base and big models have: from one to the
other d grows by more heads, not by wider ones. Initial values are the models' own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.analysis.complexity.banded import BandedCore
from ablatable.analysis.complexity.theory import DILATION, HEAD
from ablatable.nn.attention import AttentionCore, SelfAttention
from ablatable.nn.cells import Lstm, recur
from ablatable.nn.convolutional import GatedConvolution
from ablatable.nn.init import initialise
from ablatable.nn.masks import EVERYTHING, Mask, within
from ablatable.nn.scores import ProductScore

M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True)
class Case:
    """One layer at one size.

    Args:
        forward: computes the layer's output from the inputs it holds.
        leaves: inputs and parameters whose gradient a backward pass makes.
    """

    forward: Callable[[], Tensor]
    leaves: tuple[Tensor, ...]


def build(layer: str, n: int, d: int, kernel: int, window: int, device: str = "cpu") -> Case:
    """One of ``theory.LAYERS`` with inputs of its size."""
    draw = torch.Generator().manual_seed(n * 8191 + d)
    match layer:
        case "recurrent":
            cell = _ready(Lstm(d, d), device)
            return _case(cell, _draw(draw, device, 1, n, d), lambda x: recur(cell, x)[0])
        case "convolutional":
            convolution = _ready(causal(d, kernel), device)
            return _case(convolution, _draw(draw, device, 1, n, d), convolution)
        case "dilated":
            convolution = _ready(causal(d, kernel, dilation=DILATION), device)
            return _case(convolution, _draw(draw, device, 1, n, d), convolution)
        case "self-attention-projected" | "restricted-projected":
            banded = layer == "restricted-projected"
            attention = _ready(self_attention(d, heads_of(d), window if banded else None), device)
            return _case(attention, _draw(draw, device, 1, n, d), lambda x: attention(x, EVERYTHING))
        case _:
            size = d // heads_of(d)
            core = _core(layer, size, window).to(device)
            qkv = _draw(draw, device, 3, 1, n, heads_of(d), size)
            mask = _mask(n, window, device) if layer == "restricted-masked" else EVERYTHING
            return _case(core, qkv, lambda x: core(x[0], x[1], x[2], mask, None, 0))


def heads_of(d: int) -> int:
    """Heads of ``HEAD`` channels, one head where d is less."""
    return max(1, d // HEAD)


def self_attention(d: int, heads: int, window: int | None) -> SelfAttention:
    """Attention with its projections; within a window, computed in blocks, where one is given."""
    size = d // heads
    core = _core("self-attention" if window is None else "restricted", size, window or 0)
    # Attention calls its core and asks nothing else of it, and a banded core is called alike.
    return SelfAttention(d, heads, size, size, False, cast(AttentionCore, core))


def causal(d: int, kernel: int, dilation: int = 1) -> nn.Module:
    """A gated convolution over the ``kernel`` positions, ``dilation`` apart, that end at a position's own."""
    return Padded(GatedConvolution(d, kernel), (kernel - 1, 0), dilation)


def centred(d: int, kernel: int) -> nn.Module:
    """A gated convolution over the ``kernel`` positions around a position's own; an odd number."""
    return Padded(GatedConvolution(d, kernel), (kernel // 2, kernel // 2), 1)


class Padded(nn.Module):
    """A convolution with zeros before and after, so that n positions come out, and with its places ``dilation`` apart.

    The positions of one remainder modulo the dilation are a sequence of their own, over which a dilated convolution
    is a contiguous one: the sequence is dealt out to as many, convolved, and put together again.
    """

    def __init__(self, convolution: GatedConvolution, beside: tuple[int, int], dilation: int) -> None:
        super().__init__()
        self.convolution = convolution
        self.beside = beside
        self.dilation = dilation

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        if self.dilation == 1:
            return self.convolution(F.pad(x_BTC, (0, 0, *self.beside)))
        batch, length, _ = x_BTC.shape
        dealt = -(-length // self.dilation)
        x_BTC = F.pad(x_BTC, (0, 0, 0, dealt * self.dilation - length))
        dealt_NTC = x_BTC.view(batch, dealt, self.dilation, -1).transpose(1, 2).flatten(0, 1)
        out_NTC = self.convolution(F.pad(dealt_NTC, (0, 0, *self.beside)))
        return out_NTC.view(batch, self.dilation, dealt, -1).transpose(1, 2).flatten(1, 2)[:, :length]


def _core(layer: str, size: int, window: int) -> nn.Module:
    scale = 1 / math.sqrt(size)
    return BandedCore(window, scale) if layer == "restricted" else AttentionCore(ProductScore(scale))


def _mask(n: int, window: int, device: str) -> Mask:
    return within(torch.ones(1, n, dtype=torch.bool, device=device), causal=False, window=window)


def _case(module: nn.Module, x: Tensor, forward: Callable[[Tensor], Tensor]) -> Case:
    return Case(lambda: forward(x), (x, *module.parameters()))


def _ready(module: M, device: str) -> M:
    initialise(module, seed=1)
    return module.to(device)


def _draw(generator: torch.Generator, device: str, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator).to(device)
