"""A run's own scores on real development sentences, head by head, with its initial and with its trained weights.

The initial weights are a function of the seed, so they are made again. Sentences are read as in validation: the decoder
is given the reference. Shapes: B sentences, T queries, S keys, H heads; N queries that count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ablatable.analysis.runs import load
from ablatable.analysis.softmax import MEASURES
from ablatable.config.model import Model
from ablatable.data.collate import Batch, collate
from ablatable.data.dataset import prepare
from ablatable.data.packed import PackedPairs
from ablatable.errors import InputError
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork
from ablatable.nn.recorder import Attended, Kind, recording
from ablatable.nn.scores import ProductScore

_BATCH = 16
EVEN = "even"
"""The name of weights that are the same for every key a query sees."""


@dataclass(frozen=True)
class HeadScores:
    """One head over all pairs of a query and a key it sees, queries that see one key alone left out.

    Attributes:
        kind: which attention.
        layer: from 1.
        head: from 1.
        queries: how many were counted.
        product_mean: mean of q . k.
        product_variance: variance of q . k, footnote 4's quantity.
        score_variance: variance of the score, its scale applied, relative biases left out.
        score_spread: variance of the score over the keys of one query, mean over queries: what softmax can see of it.
        softmax: means over queries of :data:`analysis.softmax.MEASURES`, by score: the run's own, the same queries and
            keys under other scales, and :data:`EVEN` weights.
    """

    kind: Kind
    layer: int
    head: int
    queries: int
    product_mean: float
    product_variance: float
    score_variance: float
    score_spread: float
    softmax: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Trained:
    """A run's scores with its initial and with its trained weights; ``own`` names its score or scale."""

    run: str
    own: str
    d_k: int
    sentences: int
    initial: list[HeadScores]
    trained: list[HeadScores]


def measure(folder: Path, cache: Path, sentences: int) -> Trained:
    """Read the first ``sentences`` development pairs that the run's positions can represent.

    Raises:
        InputError: no pair is short enough, or what loading a run raises.
    """
    run = load(folder, cache)
    model = run.experiment.model
    pairs = prepare(run.experiment, cache).valid
    chosen = _first(pairs, sentences, model)
    initial = build_model(model, run.source_tokenizer.size, run.target_tokenizer.size, run.experiment.seed).eval()
    own, others = own_score(model), other_scales(model)
    return Trained(
        folder.name,
        own,
        model.key_size,
        len(chosen),
        *(_heads(network, pairs, chosen, own, others) for network in (initial, run.model)),
    )


def own_score(model: Model) -> str:
    """The scale of a dot product, the name of any other score."""
    return model.score_scale if model.score == "dot" else model.score


def other_scales(model: Model) -> dict[str, AttentionCore]:
    """Dot products of other scales that a run of the dot product is compared with."""
    scales = {"1/sqrt(d_k)": model.key_size**-0.5, "none": 1.0}
    if model.score != "dot":
        return {}
    return {name: AttentionCore(ProductScore(scale)) for name, scale in scales.items() if name != model.score_scale}


def _first(pairs: PackedPairs, sentences: int, model: Model) -> list[int]:
    limit = model.position_max if model.position == "learned" else None
    longest = [1 + max(lengths) for lengths in zip(pairs.source_lengths, pairs.target_lengths, strict=True)]
    chosen = [i for i, length in enumerate(longest) if limit is None or length <= limit][:sentences]
    if not chosen:
        raise InputError(f"no development pair fits model.position_max={limit}; name a run with more positions")
    return chosen


@torch.inference_mode()
def _heads(
    network: AnyNetwork, pairs: PackedPairs, chosen: list[int], own: str, others: dict[str, AttentionCore]
) -> list[HeadScores]:
    found: dict[tuple[Kind, int], list[_Block]] = {}
    for attended, real_BT in _read(network, pairs, chosen):
        found.setdefault((attended.kind, attended.layer), []).append(_block(attended, real_BT, own, others))
    return [
        _head(*place, head, blocks) for place, blocks in found.items() for head in range(blocks[0].product.shape[0])
    ]


def _read(network: AnyNetwork, pairs: PackedPairs, chosen: list[int]) -> Iterator[tuple[Attended, Tensor]]:
    """Every attention of every batch, with which of its queries are text."""
    for first in range(0, len(chosen), _BATCH):
        batch: Batch = collate(pairs, chosen[first : first + _BATCH])
        with recording(network) as seen:
            network.decode(batch.target_input, network.encode(batch.source))
        for attended in seen:
            yield attended, (batch.source if attended.kind == "encoder-self" else batch.target_input) != 0


@dataclass(frozen=True)
class _Block:
    """One attention over one batch: pairs (H, P), queries (H, N) by score and measure, variances (H, N) of a query."""

    product: Tensor
    score: Tensor
    spread: Tensor
    softmax: dict[str, dict[str, Tensor]]


def _block(attended: Attended, real_BT: Tensor, own: str, others: dict[str, AttentionCore]) -> _Block:
    q, k = attended.q, attended.k
    visible_BTS = attended.visible()
    counted_BT = real_BT & (visible_BTS.sum(-1) > 1)
    visible_NS = visible_BTS[counted_BT]
    product_HNS = _rows(ProductScore(1.0)(q, k), counted_BT)
    score_HNS = _rows(attended.core.score(q, k), counted_BT)
    cores = {own: attended.core, **others}
    weights = {name: _rows(attended.weights(core), counted_BT) for name, core in cores.items()}
    weights[EVEN] = (visible_NS / visible_NS.sum(-1, keepdim=True)).double().expand_as(product_HNS)
    return _Block(
        product_HNS[:, visible_NS],
        score_HNS[:, visible_NS],
        _spread(score_HNS, visible_NS),
        {name: {measure: of(rows) for measure, of in MEASURES.items()} for name, rows in weights.items()},
    )


def _rows(x_BHTS: Tensor, counted_BT: Tensor) -> Tensor:
    """The queries that count, (H, N, S), float64."""
    return x_BHTS.double().transpose(1, 2)[counted_BT].transpose(0, 1)


def _spread(score_HNS: Tensor, visible_NS: Tensor) -> Tensor:
    count_N = visible_NS.sum(-1)
    kept_HNS = score_HNS.masked_fill(~visible_NS, 0.0)
    mean_HN1 = kept_HNS.sum(-1, keepdim=True) / count_N[:, None]
    return (score_HNS - mean_HN1).masked_fill(~visible_NS, 0.0).square().sum(-1) / (count_N - 1)


def _head(kind: Kind, layer: int, head: int, blocks: list[_Block]) -> HeadScores:
    product, score = (
        torch.cat(parts) for parts in zip(*((b.product[head], b.score[head]) for b in blocks), strict=True)
    )
    spread = torch.cat([block.spread[head] for block in blocks])
    softmax = {
        name: {
            measure: float(torch.cat([block.softmax[name][measure][head] for block in blocks]).mean())
            for measure in measures
        }
        for name, measures in blocks[0].softmax.items()
    }
    return HeadScores(
        kind,
        layer,
        head + 1,
        len(spread),
        float(product.mean()),
        float(product.var()),
        float(score.var()),
        float(spread.mean()),
        softmax,
    )
