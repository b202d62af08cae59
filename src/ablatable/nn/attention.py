"""Multi-head attention (section 3.2).

Shapes: B batch, T queries, S keys, D d_model, H heads, K d_k, V d_v. The score function is a part of its
own, injected into both kinds of attention; it takes queries (B, T, H, K), keys (B, S, H, K), values (B, S,
H, V) and a mask, and returns the context (B, T, H, V).
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.nn.cache import KeyValueCache
from ablatable.nn.linear import linear
from ablatable.nn.masks import EVERYTHING, Mask
from ablatable.nn.matmul_attention import attend, attention_weights

Kernel = Literal["auto", "matmul", "sdpa"]


class ScaledDotProduct(nn.Module):
    """softmax(Q K^T / sqrt(d_k)) V (section 3.2.1). No dropout on the weights.

    ``kernel`` says how: "matmul" (plain matrix products, fastest for the short sequences of a CPU batch),
    "sdpa" (PyTorch's fused kernels), or "auto": "sdpa" on CUDA, "matmul" elsewhere. The result is the same.
    """

    def __init__(self, kernel: Kernel = "auto") -> None:
        super().__init__()
        if kernel not in get_args(Kernel):
            raise ValueError(f"kernel {kernel!r} is none of {', '.join(get_args(Kernel))}")
        self.kernel: Kernel = kernel

    def forward(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, mask: Mask) -> Tensor:
        """Return the context (B, T, H, V); exactly zero for a query that may see no key."""
        scale = 1 / math.sqrt(q_BTHK.shape[-1])
        if self.kernel == "matmul" or (self.kernel == "auto" and not q_BTHK.is_cuda):
            return attend(q_BTHK, k_BSHK, v_BSHV, mask, scale)
        q_BHTK, k_BHSK, v_BHSV = q_BTHK.transpose(1, 2), k_BSHK.transpose(1, 2), v_BSHV.transpose(1, 2)
        context_BHTV = F.scaled_dot_product_attention(q_BHTK, k_BHSK, v_BHSV, mask.keep, scale=scale)
        if mask.empty is not None:
            context_BHTV = context_BHTV.masked_fill(mask.empty, 0.0)
        return context_BHTV.transpose(1, 2)

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, mask: Mask) -> Tensor:
        """Return the attention weights (B, H, T, S); a row is all zero for a query that may see no key."""
        return attention_weights(q_BTHK, k_BSHK, mask, 1 / math.sqrt(q_BTHK.shape[-1]))


class SelfAttention(nn.Module):
    """Attention of a sequence to itself; queries, keys and values come from one fused projection.

    ``key_size`` and ``value_size`` (d_k, d_v) need not be d_model / heads.
    """

    def __init__(
        self, d_model: int, heads: int, key_size: int, value_size: int, bias: bool, core: ScaledDotProduct
    ) -> None:
        super().__init__()
        self.heads = heads
        self.widths = (heads * key_size, heads * key_size, heads * value_size)
        self.qkv = linear(d_model, sum(self.widths), bias)
        self.output = linear(heads * value_size, d_model, bias)
        self.core = core

    def forward(self, x_BTD: Tensor, mask: Mask) -> Tensor:
        """Attend within each sequence: (B, T, D) to (B, T, D)."""
        return self.output(self.core(*self.project(x_BTD), mask).flatten(2))

    def project(self, x_BTD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, T, H, K), keys (B, T, H, K) and values (B, T, H, V)."""
        q, k, v = self.qkv(x_BTD).split(self.widths, dim=-1)
        return _heads(q, self.heads), _heads(k, self.heads), _heads(v, self.heads)

    def step(self, x_BTD: Tensor, cache: KeyValueCache) -> Tensor:
        """Attend from one new position (T = 1) to it and all cached ones."""
        q_BTHK, k_BTHK, v_BTHV = self.project(x_BTD)
        return self.output(self.core(q_BTHK, *cache.append(k_BTHK, v_BTHV), EVERYTHING).flatten(2))


class CrossAttention(nn.Module):
    """Attention of the target to the encoder's output; keys and values come from one fused projection."""

    def __init__(
        self, d_model: int, heads: int, key_size: int, value_size: int, bias: bool, core: ScaledDotProduct
    ) -> None:
        super().__init__()
        self.heads = heads
        self.widths = (heads * key_size, heads * value_size)
        self.query = linear(d_model, heads * key_size, bias)
        self.key_value = linear(d_model, sum(self.widths), bias)
        self.output = linear(heads * value_size, d_model, bias)
        self.core = core

    def forward(self, x_BTD: Tensor, memory: tuple[Tensor, Tensor], mask: Mask) -> Tensor:
        """Attend from the target (B, T, D) to projected ``memory``; never causal."""
        q_BTHK = _heads(self.query(x_BTD), self.heads)
        return self.output(self.core(q_BTHK, *memory, mask).flatten(2))

    def project(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys (B, S, H, K) and values (B, S, H, V) of the encoder's output."""
        k, v = self.key_value(memory_BSD).split(self.widths, dim=-1)
        return _heads(k, self.heads), _heads(v, self.heads)


def _heads(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:-1], heads, -1)
