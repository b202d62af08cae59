"""What a head does in a sentence, in numbers.

Shapes: H heads, T queries, S keys. Queries that see one key alone have no choice and are left out of every mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ablatable.analysis.softmax import MEASURES
from ablatable.nn.recorder import Kind


@dataclass(frozen=True)
class HeadStatistics:
    """Means over queries; masses are fractions of a query's weight.

    Attributes:
        entropy: nats.
        effective: exp(entropy), the positions attended to.
        largest: the largest weight.
        distance: positions from query to key; of cross-attention, between their places in either sentence.
        diagonal: mass on the key at the query's own place.
        previous: mass one place before it.
        next: mass one place after it; None where a causal mask hides it.
        bos: mass on the start mark; None where keys have none.
        eos: mass on the end mark; None where keys have none.
    """

    entropy: float
    effective: float
    largest: float
    distance: float
    diagonal: float
    previous: float
    next: float | None
    bos: float | None
    eos: float | None


def statistics(weights_HTS: Tensor, visible_TS: Tensor, kind: Kind) -> list[HeadStatistics]:
    """The statistics of each head. A sentence without two keys to choose between gives zeros."""
    counted_T = visible_TS.sum(-1) > 1
    queries, keys = weights_HTS.shape[1:]
    offsets_TS = (torch.arange(keys) - torch.arange(queries)[:, None])[counted_T]
    chosen = weights_HTS.double()[:, counted_T]
    sees_next = bool((visible_TS[counted_T] & (offsets_TS == 1)).any())
    return [
        HeadStatistics(
            *(_mean(MEASURES[name](rows)) for name in ("entropy", "effective", "largest")),
            distance=_mean((rows * offsets_TS.abs()).sum(-1)),
            diagonal=_mean((rows * (offsets_TS == 0)).sum(-1)),
            previous=_mean((rows * (offsets_TS == -1)).sum(-1)),
            next=_mean((rows * (offsets_TS == 1)).sum(-1)) if sees_next else None,
            bos=_mean(rows[:, 0]) if kind == "decoder-self" else None,
            eos=None if kind == "decoder-self" else _mean(rows[:, -1]),
        )
        for rows in chosen
    ]


def even(visible_TS: Tensor) -> Tensor:
    """The weights (T, S) of a head that gives every visible key the same."""
    return visible_TS / visible_TS.sum(-1, keepdim=True).clamp(min=1)


def _mean(values_N: Tensor) -> float:
    return float(values_N.mean()) if len(values_N) else 0.0
