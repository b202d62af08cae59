"""Multi-head attention (section 3.2).

Shapes: B batch, T queries, S keys, D d_model, H heads, K d_k, V d_v. The score function is a part of its own
(:class:`ScaledDotProduct`), injected into both kinds of attention.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.nn.cache import KeyValueCache
from ablatable.nn.linear import linear
from ablatable.nn.masks import EVERYTHING, Mask

Kernel = Literal["auto", "matmul", "sdpa"]


class ScaledDotProduct(nn.Module):
    """softmax(Q K^T / sqrt(d_k)) V (section 3.2.1). No dropout on the weights.

    ``kernel`` says how: "matmul" (plain matrix products, fastest for the short sequences of a CPU batch), "sdpa"
    (PyTorch's fused kernels), or "auto": "sdpa" on CUDA, "matmul" elsewhere. The result is the same.
    """

    def __init__(self, kernel: Kernel = "auto") -> None:
        super().__init__()
        self.kernel: Kernel = kernel

    def forward(self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, mask: Mask) -> Tensor:
        """Return the context (B, H, T, V); exactly zero for a query that may see no key."""
        if self.kernel == "sdpa" or (self.kernel == "auto" and q_BHTK.is_cuda):
            context_BHTV = F.scaled_dot_product_attention(q_BHTK, k_BHSK, v_BHSV, attn_mask=mask.keep)
            return context_BHTV if mask.empty is None else context_BHTV.masked_fill(mask.empty, 0.0)
        return self.weights(q_BHTK, k_BHSK, mask) @ v_BHSV

    def weights(self, q_BHTK: Tensor, k_BHSK: Tensor, mask: Mask) -> Tensor:
        """Return the attention weights (B, H, T, S); a row is all zero for a query that may see no key."""
        scores_BHTS = (q_BHTK * (1 / math.sqrt(q_BHTK.shape[-1]))) @ k_BHSK.transpose(-1, -2)
        if mask.bias is not None:
            scores_BHTS.add_(mask.bias)
        weights_BHTS = torch.softmax(scores_BHTS, dim=-1)
        return weights_BHTS if mask.empty is None else weights_BHTS.masked_fill(mask.empty, 0.0)


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
        q_BHTK, k_BHTK, v_BHTV = self._project(x_BTD)
        return self.output(_merge_heads(self.core(q_BHTK, k_BHTK, v_BHTV, mask)))

    def step(self, x_BTD: Tensor, cache: KeyValueCache) -> Tensor:
        """Attend from one new position (T = 1) to it and all cached ones."""
        q_BHTK, k_BHTK, v_BHTV = self._project(x_BTD)
        k_BHSK, v_BHSV = cache.append(k_BHTK, v_BHTV)
        return self.output(_merge_heads(self.core(q_BHTK, k_BHSK, v_BHSV, EVERYTHING)))

    def _project(self, x_BTD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self.qkv(x_BTD).split(self.widths, dim=-1)
        return _split_heads(q, self.heads), _split_heads(k, self.heads), _split_heads(v, self.heads)


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

    def project(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys (B, H, S, K) and values (B, H, S, V) of the encoder's output."""
        k, v = self.key_value(memory_BSD).split(self.widths, dim=-1)
        return _split_heads(k, self.heads), _split_heads(v, self.heads)

    def forward(self, x_BTD: Tensor, memory: tuple[Tensor, Tensor], mask: Mask) -> Tensor:
        """Attend from the target (B, T, D) to projected ``memory``; never causal."""
        q_BHTK = _split_heads(self.query(x_BTD), self.heads)
        return self.output(_merge_heads(self.core(q_BHTK, *memory, mask)))


def _split_heads(x_BTHK: Tensor, heads: int) -> Tensor:
    return x_BTHK.unflatten(-1, (heads, -1)).transpose(1, 2)


def _merge_heads(x_BHTV: Tensor) -> Tensor:
    return x_BHTV.transpose(1, 2).flatten(2)
