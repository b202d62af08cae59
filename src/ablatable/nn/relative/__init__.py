"""Relative positions: what self-attention does with the offset of a query from a key (section 3.5 and after).

Source and target share no axis, so cross-attention has none of this.
"""

from __future__ import annotations

from collections.abc import Iterator

from ablatable.config.model import Model
from ablatable.nn.relative.alibi import LinearBiases
from ablatable.nn.relative.base import Relative
from ablatable.nn.relative.bucketed import BucketBias
from ablatable.nn.relative.rotary import Rotary
from ablatable.nn.relative.shaw import RelativeVectors

__all__ = ["KINDS", "Relative", "of_each_layer"]

KINDS: dict[str, type[Relative]] = {"rope": Rotary, "alibi": LinearBiases, "shaw": RelativeVectors, "t5": BucketBias}
"""Classes by ``model.position``; the kinds that meet the embeddings are in :mod:`ablatable.nn.positions`."""


def of_each_layer(model: Model, causal: bool) -> Iterator[Relative | None]:
    """What each self-attention of one stack takes, layer by layer: one instance for all where the kind is shared.

    ``causal``: its queries see no later key. None throughout where ``model.position`` is no relative kind.
    """
    if model.position not in KINDS:
        yield from [None] * model.layers
        return
    kind = KINDS[model.position]
    first = kind.of(model, causal)
    yield first
    for _ in range(model.layers - 1):
        yield first if kind.shared else kind.of(model, causal)
