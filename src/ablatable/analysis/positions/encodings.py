"""How alike the encodings of two positions are, by how far apart they stand.

Shapes: P positions, D width of what meets the embeddings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Encodings:
    """What positions 0, 1, ... bring to the embeddings of one stack (None: of both alike), (P, D) float64."""

    name: str
    stack: str | None
    table: Tensor


@dataclass(frozen=True)
class Similarity:
    """Products and cosines of encodings, by offset: mean, least and largest over the first of the two positions.

    Where ``least`` and ``largest`` are the mean, the product knows the offset only. ``cosines`` (P, P) are of every
    pair: NaN, and in no mean, where an encoding is zero and has no direction.
    """

    name: str
    stack: str | None
    positions: int
    width: int
    offsets: list[int]
    product: list[float]
    least: list[float]
    largest: list[float]
    cosine: list[float]
    cosines: list[list[float]]


@torch.no_grad()
def encodings(positions: nn.Module, count: int, d_model: int) -> Tensor:
    """What a module of :mod:`ablatable.nn.positions` adds to embeddings that are zero, (P, D).

    Of concatenated encodings that is their share of the projection.
    """
    return cast(Tensor, positions(torch.zeros(count, d_model))).double()


def similarity(of: Encodings) -> Similarity:
    """Compare every two positions."""
    products_PP = of.table @ of.table.T
    lengths_P = products_PP.diagonal().sqrt()
    cosines_PP = products_PP / (lengths_P[:, None] * lengths_P)  # 0 / 0 is NaN
    diagonals = [products_PP.diagonal(offset) for offset in range(len(of.table))]
    return Similarity(
        of.name,
        of.stack,
        of.table.shape[0],
        of.table.shape[1],
        list(range(len(of.table))),
        [float(one.mean()) for one in diagonals],
        [float(one.min()) for one in diagonals],
        [float(one.max()) for one in diagonals],
        [float(cosines_PP.diagonal(offset).nanmean()) for offset in range(len(of.table))],
        cast(Any, cosines_PP).tolist(),
    )
