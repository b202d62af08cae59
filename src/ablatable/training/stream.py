"""The endless training text as a pure function of (seed, update): where to start is all that resuming needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from ablatable.data.batches import batch_order
from ablatable.data.collate import Batch, collate
from ablatable.data.packed import PackedPairs


@dataclass(frozen=True)
class MicroBatch:
    """What one device sees in one pass.

    ``update_tokens`` counts the target tokens of the whole update, over all its passes and devices: the loss is
    divided by it, so long and short passes weigh by their tokens. ``update`` counts from 1; ``part`` is the number of
    the pass within the update and ``passes`` how many there are.
    """

    batch: Batch
    update: int
    part: int
    passes: int
    update_tokens: int
    update_source_tokens: int


class UpdateStream(IterableDataset[MicroBatch]):
    """Micro-batches of one rank from update ``first`` on, without end.

    Every batch of ``batch_tokens`` is split by sentences over ranks and passes, so devices and micro-batches are a
    matter of where to run, not of what is learned. Epoch order and batch membership come from (seed, epoch) alone.
    """

    def __init__(
        self,
        pairs: PackedPairs,
        *,
        batch_tokens: int,
        accumulate: int,
        micro_batches: int,
        seed: int,
        rank: int = 0,
        ranks: int = 1,
        first: int = 1,
    ) -> None:
        super().__init__()
        self._pairs = pairs
        self._batch_tokens = batch_tokens
        self._accumulate = accumulate
        self._micro_batches = micro_batches
        self._seed = seed
        self._rank = rank
        self._ranks = ranks
        self._first = first

    @property
    def passes(self) -> int:
        """Passes of one device per update."""
        return self._accumulate * self._micro_batches

    def __iter__(self) -> Iterator[MicroBatch]:
        batches = self._batches_from((self._first - 1) * self._accumulate)
        update = self._first
        while True:
            chosen = [next(batches) for _ in range(self._accumulate)]
            yield from self._passes(chosen, update)
            update += 1

    def _batches_from(self, skip: int) -> Iterator[NDArray[np.int64]]:
        epoch = 0
        while True:
            order = batch_order(
                self._pairs.source_lengths, self._pairs.target_lengths, self._batch_tokens, self._seed, epoch
            )
            yield from order[skip:]
            skip = max(0, skip - len(order))
            epoch += 1

    def _passes(self, chosen: list[NDArray[np.int64]], update: int) -> Iterator[MicroBatch]:
        everything = np.concatenate(chosen)
        target_tokens = int((self._pairs.target_lengths[everything] + 1).sum())
        source_tokens = int((self._pairs.source_lengths[everything] + 1).sum())
        slices = self._ranks * self._micro_batches
        for number, batch in enumerate(chosen):
            for micro in range(self._micro_batches):
                mine = batch[micro * self._ranks + self._rank :: slices]
                collated = collate(self._pairs, mine) if mine.size else _silent(self._pairs, batch)
                part = number * self._micro_batches + micro
                yield MicroBatch(collated, update, part, self.passes, target_tokens, source_tokens)


def _silent(pairs: PackedPairs, batch: NDArray[np.int64]) -> Batch:
    """One sentence without a token to predict, for a device that a small batch leaves empty: ranks stay in step."""
    shown = collate(pairs, batch[:1])
    return replace(shown, target_output=torch.zeros_like(shown.target_output), source_tokens=0, target_tokens=0)
