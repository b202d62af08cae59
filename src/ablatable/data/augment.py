"""The training text as an epoch reads it: cut anew, pieces dropped and moved. Validation and test never come here.

Everything drawn is a pure function of (seed, epoch, sentence), a sentence being known by its number in the packed
training text: it is the same whatever the number of devices, passes and loader processes, and after a resume.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ablatable.config.schema import Experiment
from ablatable.data import draws
from ablatable.data.collate import Batch, collate
from ablatable.data.packed import PackedPairs, Side
from ablatable.data.tokenizers.protocol import Sampler, Tokenizer
from ablatable.data.tokenizers.special import EOS, PAD, UNK

_DROPPED, _MOVED, _CUT_SOURCE, _CUT_TARGET = range(4)
"""The last key of a draw: what it is for."""

_CHUNK = 20_000
"""Sentences held as lists at once while an epoch is cut."""


@dataclass(frozen=True)
class Sampling:
    """Sub-word sampling: both sides are cut at random, by the tokenizers they were packed with.

    A sentence that would be cut into more than ``longest`` pieces keeps its best segmentation.
    """

    source: Sampler
    target: Sampler
    rate: float
    longest: int

    def pairs(self, pairs: PackedPairs, seed: int, epoch: int) -> PackedPairs:
        """Return the same sentences in the segmentations of one epoch, held in memory."""
        return PackedPairs(
            self._side(pairs.source_side, self.source, (seed, epoch, _CUT_SOURCE)),
            self._side(pairs.target_side, self.target, (seed, epoch, _CUT_TARGET)),
            pairs.stats,
        )

    def _side(self, side: Side, tokenizer: Sampler, keys: tuple[int, int, int]) -> Side:
        sentences = len(side.offsets) - 1
        seeds: list[int] = (draws.bits(*keys, np.arange(sentences)) >> np.uint64(33)).tolist()
        lengths = np.zeros(sentences, np.int64)
        parts = [side.ids[:0]]
        for start in range(0, sentences, _CHUNK):
            chunk = [self._cut(side, tokenizer, i, seeds[i]) for i in range(start, min(start + _CHUNK, sentences))]
            lengths[start : start + len(chunk)] = [len(ids) for ids in chunk]
            parts.append(np.fromiter((index for ids in chunk for index in ids), side.ids.dtype))
        return Side(np.concatenate(parts), np.concatenate([np.zeros(1, np.int64), lengths.cumsum()]))

    def _cut(self, side: Side, tokenizer: Sampler, sentence: int, seed: int) -> list[int]:
        best: list[int] = side[sentence].tolist()
        sampled = tokenizer.sample(best, self.rate, seed)
        return sampled if len(sampled) <= self.longest else best


@dataclass(frozen=True)
class WordNoise:
    """Source pieces that turn unknown at the rate ``dropout``, or move at most ``swap`` places.

    Dropout is that of Bowman et al. 2016, section 3.1 (each word by itself becomes the unknown one), who apply it to
    what the decoder reads; here it is the source. Moving is that of Lample et al. 2018, section 2.3 (sorted by
    position + u (swap + 1), u uniform in [0, 1)), who shuffle words for an auto-encoder to put in order; here it is
    the pieces of a source to be translated.
    """

    seed: int
    epoch: int
    dropout: float
    swap: int

    def __call__(self, block: NDArray[np.int64], sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sentences (rows, places) with noise; end marks and padding keep their places."""
        inside = (block != PAD) & (block != EOS)
        width = int(block.shape[1])
        place = np.arange(width)
        keys = (self.seed, self.epoch, sentences[:, None], place)
        if self.dropout:
            block = np.where(inside & (draws.uniform(*keys, _DROPPED) < self.dropout), UNK, block)
        if self.swap:
            moved = place + draws.uniform(*keys, _MOVED) * (self.swap + 1)
            order = np.where(inside, moved, place + width + self.swap + 1).argsort(axis=1, kind="stable")
            block = np.take_along_axis(block, order, axis=1)
        return block


@dataclass(frozen=True)
class EpochText:
    """The training text of one epoch: batches are made from its lengths, and of its sentences."""

    pairs: PackedPairs
    noise: WordNoise | None = None

    def collate(self, indices: ArrayLike) -> Batch:
        """Return the batch of the given pairs, in the order given."""
        return collate(self.pairs, indices, self.noise)


@dataclass(frozen=True)
class Augmentation:
    """What ``data.subword_sampling``, ``data.word_dropout`` and ``data.word_swap`` make of the training text."""

    seed: int
    word_dropout: float = 0.0
    word_swap: int = 0
    sampling: Sampling | None = None

    def epoch(self, pairs: PackedPairs, number: int) -> EpochText:
        """Return the text of one epoch, counted from 0; where sentences are cut anew, that happens here."""
        noisy = self.word_dropout > 0 or self.word_swap > 0
        noise = WordNoise(self.seed, number, self.word_dropout, self.word_swap) if noisy else None
        return EpochText(self.sampling.pairs(pairs, self.seed, number) if self.sampling else pairs, noise)


def augmentation_of(experiment: Experiment, source: Tokenizer, target: Tokenizer) -> Augmentation:
    """Return what an experiment does to its training text, given the tokenizers it was packed with.

    Raises:
        TypeError: sub-word sampling with tokenizers that know one segmentation only (the config refuses these).
    """
    data = experiment.data
    sampling = None
    if data.subword_sampling is not None:
        if not (isinstance(source, Sampler) and isinstance(target, Sampler)):
            raise TypeError(f"tokenizer.kind={experiment.tokenizer.kind} knows one segmentation of a sentence only")
        # A sentence must also still fit in a batch of its own.
        longest = min(data.max_length, experiment.train.batch_tokens - 1)
        sampling = Sampling(source, target, data.subword_sampling, longest)
    return Augmentation(experiment.seed, data.word_dropout, data.word_swap, sampling)
