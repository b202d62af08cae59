"""The real model at initialisation: what its own projections make of footnote 4's assumption.

Weights are drawn with mean 0 and variance 2 / (inputs + outputs) (Glorot), biases are 0. Component i of a query is
sum_j W_ij x_j, so over the draw it has mean 0 and variance Var(W) |x|^2, independent of every other component and of
the keys, whose weights are other rows. Hence, whatever the inputs x of the query and y of the key,

    Var(q . k) = d_k Var(W_q) |x|^2 Var(W_k) |y|^2.

The width a draw knows is that of the fused matrix. Of self-attention, one matrix makes queries, keys and values: for
the paper's h d_k = h d_v = d_model its variance is 1 / (2 d_model), and normalised inputs (|x|^2 = d_model) give
components of variance 1/2, not 1, and scores of variance d_k / 4. Of cross-attention, queries have a matrix of their
own (variance 1 / d_model), keys share one with the values (2 / (3 d_model)): scores of variance 2 d_k / 3. The first
layer reads embeddings and sinusoids, |x|^2 = 3/2 d_model on average: self-attention has 9/16 d_k.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ablatable.analysis.intervals import LEVEL, Interval, each_of, positive_mean_interval
from ablatable.config.model import Model
from ablatable.nn.attention import CrossAttention, SelfAttention
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork
from ablatable.nn.recorder import Attended, Kind, recording

_VOCABULARY = 256
_LENGTH = 24
"""Positions of the sentence of random pieces that is read."""


@dataclass(frozen=True)
class InitialVariance:
    """The mean of (q . k)^2 over pairs, heads and seeds in one attention, and the derivation's mean.

    ``ratio`` is the mean of (q . k)^2 over what the derivation says of the inputs of that pair; it is 1 where it holds.
    """

    kind: Kind
    layer: int
    d_k: int
    heads: int
    derived: float
    measured: float
    ratio: Interval
    holds: bool


@dataclass(frozen=True)
class Initial:
    """A sweep of d_k at fixed h d_k = d_model. All intervals hold at once with the confidence ``level``."""

    level: float
    d_model: int
    layers: int
    seeds: int
    variances: list[InitialVariance]


@dataclass(frozen=True)
class Pairs:
    """Of every query and key of one attention, (B, H, T, S): (q . k)^2, and what the derivation says it is."""

    kind: Kind
    layer: int
    measured: Tensor
    derived: Tensor


def measure(model: Model, seed: int, seeds: int = 16, widths: tuple[int, ...] = (8, 32, 64, 128, 512)) -> Initial:
    """Build ``model`` with as many heads as each d_k in ``widths`` leaves, from seeds ``seed``, ``seed`` + 1, ..."""
    model = replace(model, layers=min(model.layers, 2), d_k=None, d_v=None)
    fitting = [d_k for d_k in widths if model.d_model % d_k == 0]
    found = {d_k: _of_width(replace(model, heads=model.d_model // d_k), range(seed, seed + seeds)) for d_k in fitting}
    level = each_of(sum(len(by_place) for by_place in found.values()))
    variances = [
        _variance(*place, d_k, model.d_model // d_k, pairs, level)
        for d_k, by_place in found.items()
        for place, pairs in by_place.items()
    ]
    variances.sort(key=lambda one: (one.kind, one.layer, one.d_k))
    return Initial(LEVEL, model.d_model, model.layers, seeds, variances)


def _of_width(model: Model, seeds: range) -> dict[tuple[Kind, int], list[Pairs]]:
    found: dict[tuple[Kind, int], list[Pairs]] = {}
    for seed in seeds:
        network = build_model(model, _VOCABULARY, _VOCABULARY, seed).eval()
        random = torch.Generator().manual_seed(seed)
        # Ids from 4 on: no padding and no special piece; none twice, so that no two embeddings are one.
        source, target = (4 + torch.randperm(_VOCABULARY - 4, generator=random)[None, :_LENGTH] for _ in range(2))
        for pairs in squared_products(network, source, target):
            found.setdefault((pairs.kind, pairs.layer), []).append(pairs)
    return found


def _variance(kind: Kind, layer: int, d_k: int, heads: int, found: list[Pairs], level: float) -> InitialVariance:
    # A seed is one observation: what its pairs and heads say is not independent.
    ratios = np.array([float((one.measured / one.derived).mean()) for one in found])
    ratio = positive_mean_interval(ratios, level)
    derived, measured = (
        float(np.mean([float(part.mean()) for part in parts]))
        for parts in ([one.derived for one in found], [one.measured for one in found])
    )
    return InitialVariance(kind, layer, d_k, heads, derived, measured, ratio, holds=1.0 in ratio)


@torch.inference_mode()
def squared_products(network: AnyNetwork, source_BS: Tensor, target_BT: Tensor) -> list[Pairs]:
    """Read sentences without padding, with weights that are still initial, and return every attention's pairs."""
    with recording(network) as seen, _inputs(network) as inputs:
        network.decode(target_BT, network.encode(source_BS))
    return [_pairs(attended, *inputs[id(attended.core)]) for attended in seen]


def _pairs(attended: Attended, x_BTD: Tensor, y_BSD: Tensor, scale: float) -> Pairs:
    q_BHTK, k_BHKS = attended.q.double().transpose(1, 2), attended.k.double().permute(0, 2, 3, 1)
    lengths_B1TS = _squared(x_BTD)[:, None, :, None] * _squared(y_BSD)[:, None, None, :]
    derived = (q_BHTK.shape[-1] * scale * lengths_B1TS).expand(-1, q_BHTK.shape[1], -1, -1)
    return Pairs(attended.kind, attended.layer, (q_BHTK @ k_BHKS).square(), derived)


def _squared(x_BTD: Tensor) -> Tensor:
    return x_BTD.double().square().sum(-1)


def glorot_variance(layer: nn.Linear) -> float:
    """The variance of each weight at initialisation, 2 / (inputs + outputs)."""
    return 2 / (layer.in_features + layer.out_features)


@contextmanager
def _inputs(network: AnyNetwork) -> Generator[dict[int, tuple[Tensor, Tensor, float]], None, None]:
    """Of every attention, by its core's id: what queries and keys are made of, and Var(W_q) Var(W_k)."""
    found: dict[int, tuple[Tensor, Tensor, float]] = {}
    memories: dict[int, Tensor] = {}

    def of_self(part: SelfAttention, args: tuple[Any, ...]) -> None:
        found[id(part.core)] = (args[0], args[0], glorot_variance(part.qkv) ** 2)

    def of_memory(part: nn.Module, args: tuple[Any, ...]) -> None:
        memories[id(part)] = args[0]

    def of_cross(part: CrossAttention, args: tuple[Any, ...]) -> None:
        scale = glorot_variance(part.query) * glorot_variance(part.key_value)
        found[id(part.core)] = (args[0], memories[id(part.key_value)], scale)

    handles: list[Any] = []
    for part in network.modules():
        if isinstance(part, SelfAttention):
            handles.append(part.register_forward_pre_hook(of_self))
        elif isinstance(part, CrossAttention):
            handles += [part.register_forward_pre_hook(of_cross), part.key_value.register_forward_pre_hook(of_memory)]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()
