"""The endless training text as a pure function of (seed, update): where to start is all that resuming needs.

Where an epoch begins depends on the epochs before it, whose lengths change where sentences are cut anew. So that a
resumed run need not cut them again, each micro-batch carries the beginning of its epoch, and a stream can start there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from ablatable.data.augment import Augmentation, EpochText
from ablatable.data.batches import batch_order
from ablatable.data.collate import Batch
from ablatable.data.packed import PackedPairs


@dataclass(frozen=True)
class EpochStart:
    """An epoch, counted from 0, and the number of batches in all epochs before it."""

    epoch: int = 0
    batches: int = 0


@dataclass(frozen=True)
class MicroBatch:
    """What one device sees in one pass.

    ``update_tokens`` counts the target tokens of the whole update, over all its passes and devices: the loss is
    divided by it, so long and short passes weigh by their tokens. ``update`` counts from 1; ``part`` is the number of
    the pass within the update and ``passes`` how many there are. ``began`` is the epoch that the batch is from.
    """

    batch: Batch
    update: int
    part: int
    passes: int
    update_tokens: int
    update_source_tokens: int
    began: EpochStart = EpochStart()


@dataclass(frozen=True)
class _Chosen:
    """A batch of ``batch_tokens``: which sentences of which epoch."""

    text: EpochText
    sentences: NDArray[np.int64]
    began: EpochStart

    @property
    def source_tokens(self) -> int:
        return int((self.text.pairs.source_lengths[self.sentences] + 1).sum())

    @property
    def target_tokens(self) -> int:
        return int((self.text.pairs.target_lengths[self.sentences] + 1).sum())


class UpdateStream(IterableDataset[MicroBatch]):
    """Micro-batches of one rank from update ``first`` on, without end.

    Every batch of ``batch_tokens`` is split by sentences over ranks and passes, so devices and micro-batches are a
    matter of where to run, not of what is learned. Epoch order and batch membership come from (seed, epoch) alone, and
    so does what ``augmentation`` does to a sentence. ``since`` is an epoch that began at or before update ``first``.
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
        since: EpochStart = EpochStart(),
        augmentation: Augmentation | None = None,
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
        self._since = since
        self._augmentation = augmentation or Augmentation(seed)

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

    def _batches_from(self, first: int) -> Iterator[_Chosen]:
        began = self._since
        while True:
            text = self._augmentation.epoch(self._pairs, began.epoch)
            order = batch_order(
                text.pairs.source_lengths, text.pairs.target_lengths, self._batch_tokens, self._seed, began.epoch
            )
            for sentences in order[max(0, first - began.batches) :]:
                yield _Chosen(text, sentences, began)
            began = EpochStart(began.epoch + 1, began.batches + len(order))

    def _passes(self, chosen: list[_Chosen], update: int) -> Iterator[MicroBatch]:
        target_tokens = sum(batch.target_tokens for batch in chosen)
        source_tokens = sum(batch.source_tokens for batch in chosen)
        slices = self._ranks * self._micro_batches
        for number, batch in enumerate(chosen):
            for micro in range(self._micro_batches):
                mine = batch.sentences[micro * self._ranks + self._rank :: slices]
                collated = batch.text.collate(mine) if mine.size else _silent(batch)
                part = number * self._micro_batches + micro
                yield MicroBatch(collated, update, part, self.passes, target_tokens, source_tokens, batch.began)


def _silent(batch: _Chosen) -> Batch:
    """One sentence without a token to predict, for a device that a small batch leaves empty: ranks stay in step."""
    shown = batch.text.collate(batch.sentences[:1])
    return replace(shown, target_output=torch.zeros_like(shown.target_output), source_tokens=0, target_tokens=0)
