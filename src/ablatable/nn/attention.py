"""Multi-head attention (section 3.2).

Shapes: B batch, T queries, S keys, H heads, K d_k, V d_v. The core, which turns queries (B, T, H, K), keys (B, S, H, K)
and values (B, S, H, V) into a context (B, T, H, V), is a part of its own, injected into both kinds of attention.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.nn.cache import KeyValueCache
from ablatable.nn.dropout import Dropout
from ablatable.nn.linear import linear
from ablatable.nn.masks import EVERYTHING, Mask, reach
from ablatable.nn.matmul_attention import attend
from ablatable.nn.relative import Relative
from ablatable.nn.scores import ProductScore, Score

Kernel = Literal["auto", "matmul", "sdpa"]


class AttentionCore(nn.Module):
    """softmax(score(Q, K) + relative bias) V, with dropout on the weights while training.

    ``kernel`` says how a score that is a product is computed: "matmul" (plain matrix products, fastest for the short
    sequences of a CPU batch), "sdpa" (PyTorch's fused kernels), or "auto": "sdpa" on CUDA, "matmul" elsewhere. The
    result is the same. Whatever neither can do, and every other score, is computed step by step.
    """

    def __init__(self, score: Score, dropout: float = 0.0, kernel: Kernel = "auto") -> None:
        super().__init__()
        if kernel not in get_args(Kernel):
            raise ValueError(f"kernel {kernel!r} is none of {', '.join(get_args(Kernel))}")
        self.score = score
        self.dropout = Dropout(dropout) if dropout else None
        self.kernel: Kernel = kernel

    def forward(
        self,
        q_BTHK: Tensor,
        k_BSHK: Tensor,
        v_BSHV: Tensor,
        mask: Mask,
        relative: Relative | None = None,
        offset: int = 0,
    ) -> Tensor:
        """Return the context (B, T, H, V); exactly zero for a query that may see no key.

        Args:
            q_BTHK: queries, rotated already where ``relative`` rotates.
            k_BSHK: keys, likewise.
            v_BSHV: values.
            mask: which keys each query may see.
            relative: what is added to scores and context.
            offset: the first query's position, where the first key's is 0; for ``relative`` alone.
        """
        bias = self._bias(q_BTHK, k_BSHK, relative, offset)
        if isinstance(self.score, ProductScore) and not _has_context_bias(relative):
            if self.kernel == "sdpa" or (self.kernel == "auto" and q_BTHK.is_cuda):
                return self._fused(self.score, q_BTHK, k_BSHK, v_BSHV, mask, bias)
            if bias is None and not self._rate:
                return attend(self.score.queries(q_BTHK), self.score.keys(k_BSHK), v_BSHV, mask, self.score.scale)
        weights_BHTS = self._weights(q_BTHK, k_BSHK, mask, bias).to(v_BSHV.dtype)
        if self.dropout is not None:
            weights_BHTS = self.dropout(weights_BHTS)
        context_BTHV = (weights_BHTS @ v_BSHV.transpose(1, 2)).transpose(1, 2)
        added_BTHV = None if relative is None else relative.context_bias(weights_BHTS, offset)
        return context_BTHV if added_BTHV is None else context_BTHV + added_BTHV

    @torch.no_grad()
    def weights(
        self, q_BTHK: Tensor, k_BSHK: Tensor, mask: Mask, relative: Relative | None = None, offset: int = 0
    ) -> Tensor:
        """Return the attention weights (B, H, T, S), without dropout or gradient.

        A row is all zero for a query that may see no key. Arguments are those of :meth:`forward`.
        """
        return self._weights(q_BTHK, k_BSHK, mask, self._bias(q_BTHK, k_BSHK, relative, offset))

    @property
    def _rate(self) -> float:
        return self.dropout.rate if self.dropout is not None and self.training else 0.0

    def _bias(self, q_BTHK: Tensor, k_BSHK: Tensor, relative: Relative | None, offset: int) -> Tensor | None:
        if relative is None:
            return None
        return relative.score_bias(self.score.scaled_queries(q_BTHK), k_BSHK.shape[1], offset)

    def _weights(self, q_BTHK: Tensor, k_BSHK: Tensor, mask: Mask, bias: Tensor | None) -> Tensor:
        scores_BHTS = _sum(self.score(q_BTHK, k_BSHK), bias, mask.bias)
        weights_BHTS = torch.softmax(scores_BHTS, dim=-1)
        return weights_BHTS if mask.empty is None else weights_BHTS.masked_fill(mask.empty, 0.0)

    def _fused(
        self, score: ProductScore, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, mask: Mask, bias: Tensor | None
    ) -> Tensor:
        q_BHTK, k_BHSK = score.queries(q_BTHK).transpose(1, 2), score.keys(k_BSHK).transpose(1, 2)
        # The kernels take one mask, boolean or in the precision of the queries.
        seen = mask.keep if bias is None else _sum(bias, mask.bias).to(q_BHTK.dtype)
        context_BHTV = F.scaled_dot_product_attention(
            q_BHTK, k_BHSK, v_BSHV.transpose(1, 2), seen, dropout_p=self._rate, scale=score.scale
        )
        if mask.empty is not None:
            context_BHTV = context_BHTV.masked_fill(mask.empty, 0.0)
        return context_BHTV.transpose(1, 2)


class SelfAttention(nn.Module):
    """Attention of a sequence to itself; queries, keys and values come from one fused projection.

    ``key_size`` and ``value_size`` (d_k, d_v) need not be d_model / heads. ``window`` is how many positions centred on
    a query its mask leaves visible (None: all); decoding step by step has to know.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        key_size: int,
        value_size: int,
        bias: bool,
        core: AttentionCore,
        relative: Relative | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.widths = (heads * key_size, heads * key_size, heads * value_size)
        self.qkv = linear(d_model, sum(self.widths), bias)
        self.output = linear(heads * value_size, d_model, bias)
        self.core = core
        self.relative = relative
        self.window = window

    def forward(self, x_BTD: Tensor, mask: Mask) -> Tensor:
        """Attend within each sequence: (B, T, D) to (B, T, D)."""
        return self._attend(*self.project(x_BTD), mask)

    def project(self, x_BTD: Tensor, offset: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, T, H, K), keys (B, T, H, K) and values (B, T, H, V) of positions offset, offset + 1, ...

        Queries and keys are rotated where the relative positions say so.
        """
        q, k, v = (_heads(part, self.heads) for part in self.qkv(x_BTD).split(self.widths, dim=-1))
        if self.relative is None:
            return q, k, v
        return self.relative.rotate(q, offset), self.relative.rotate(k, offset), v

    def step(self, x_BTD: Tensor, cache: KeyValueCache) -> Tensor:
        """Attend from one new position (T = 1) to it and the cached ones, as far back as the window reaches."""
        q_BTHK, k_BTHK, v_BTHV = self.project(x_BTD, cache.used)
        k_BSHK, v_BSHV = cache.append(k_BTHK, v_BTHV)
        if self.window is not None:
            first = max(0, k_BSHK.shape[1] - 1 - reach(self.window))
            k_BSHK, v_BSHV = k_BSHK[:, first:], v_BSHV[:, first:]
        return self._attend(q_BTHK, k_BSHK, v_BSHV, EVERYTHING, k_BSHK.shape[1] - 1)

    def _attend(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, mask: Mask, offset: int = 0) -> Tensor:
        return self.output(self.core(q_BTHK, k_BSHK, v_BSHV, mask, self.relative, offset).flatten(2))


class CrossAttention(nn.Module):
    """Attention of the target to the encoder's output; keys and values come from one fused projection."""

    def __init__(
        self, d_model: int, heads: int, key_size: int, value_size: int, bias: bool, core: AttentionCore
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


def _sum(first: Tensor, *others: Tensor | None) -> Tensor:
    for other in others:
        if other is not None:
            first = first + other
    return first


def _has_context_bias(relative: Relative | None) -> bool:
    """Whether this kind needs the weights themselves, which no fused kernel hands out."""
    return relative is not None and type(relative).context_bias is not Relative.context_bias
