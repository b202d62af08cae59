"""An augmented training text is still a pure function of (seed, update), however it is split and wherever it starts."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from ablatable.data.augment import Augmentation, Sampling
from ablatable.data.packed import PackedPairs, open_packed, pack
from ablatable.data.tokenizers.build import KINDS
from ablatable.data.tokenizers.protocol import Sampler
from ablatable.training.stream import EpochStart, MicroBatch, UpdateStream

BUDGET = 80


class Counting:
    """A tokenizer that counts what it is asked to cut."""

    def __init__(self, tokenizer: Sampler) -> None:
        self._tokenizer = tokenizer
        self.samples = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def sample(self, ids: list[int], rate: float, seed: int) -> list[int]:
        self.samples += 1
        return self._tokenizer.sample(ids, rate, seed)


@pytest.fixture(scope="module")
def tokenizer() -> Counting:
    lines = [f"ab{i % 7} bcd{i % 11} aabb{i % 5} ccd" for i in range(60)]
    made = KINDS["bpe"].load(KINDS["bpe"].train(lines, 36, "identity"), "identity")
    assert isinstance(made, Sampler)
    return Counting(made)


@pytest.fixture(scope="module")
def pairs(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> PackedPairs:
    folder: Path = tmp_path_factory.mktemp("packed")
    lines = [(f"ab{i % 7} bcd{i % 11}" + " ccd" * (i % 4), f"aabb{i % 5} bcd{i % 11}") for i in range(60)]
    pack(lines, tokenizer, tokenizer, folder, "train", None)
    return open_packed(folder, "train")


@pytest.fixture
def augmentation(tokenizer: Any) -> Augmentation:
    return Augmentation(1, word_dropout=0.1, word_swap=2, sampling=Sampling(tokenizer, tokenizer, 0.3, BUDGET - 1))


def stream(pairs: PackedPairs, augmentation: Augmentation, **changed: Any) -> UpdateStream:
    settings = {"batch_tokens": BUDGET, "accumulate": 1, "micro_batches": 1, "seed": 1} | changed
    return UpdateStream(pairs, augmentation=augmentation, **settings)


def take(items: UpdateStream, updates: int) -> list[MicroBatch]:
    return list(islice(iter(items), updates * items.passes))


def rows(items: list[MicroBatch]) -> Counter[tuple[tuple[int, ...], tuple[int, ...]]]:
    def stripped(row: Tensor) -> tuple[int, ...]:
        return tuple(int(index) for index in row if index)

    return Counter(
        (stripped(source), stripped(target))
        for item in items
        if item.batch.target_tokens
        for source, target in zip(item.batch.source, item.batch.target_output, strict=True)
    )


@pytest.mark.parametrize(("ranks", "micro_batches"), [(2, 1), (1, 3), (2, 2)])
def test_trn_12_ranks_and_passes_see_the_same_noise(
    pairs: PackedPairs, augmentation: Augmentation, ranks: int, micro_batches: int
) -> None:
    alone = take(stream(pairs, augmentation), 25)
    shared = [
        take(stream(pairs, augmentation, ranks=ranks, rank=rank, micro_batches=micro_batches), 25)
        for rank in range(ranks)
    ]
    for update in range(25):
        mine = [item for items in shared for item in items[update * micro_batches : (update + 1) * micro_batches]]
        assert rows(mine) == rows([alone[update]])
        assert {item.update_tokens for item in mine} == {alone[update].batch.target_tokens}


@pytest.mark.parametrize("accumulate", [1, 3])
def test_resuming_in_mid_epoch_is_the_same_text(
    pairs: PackedPairs, augmentation: Augmentation, accumulate: int
) -> None:
    whole = take(stream(pairs, augmentation, accumulate=accumulate), 30)
    assert whole[-1].began.epoch >= 2
    for done in (1, 7, 16, 29):
        last = whole[done * accumulate - 1]
        for since in (last.began, EpochStart()):
            later = take(stream(pairs, augmentation, accumulate=accumulate, first=done + 1, since=since), 30 - done)
            for a, b in zip(whole[done * accumulate :], later, strict=True):
                assert (a.update, a.part, a.update_tokens, a.began) == (b.update, b.part, b.update_tokens, b.began)
                assert a.batch.source.equal(b.batch.source)
                assert a.batch.target_output.equal(b.batch.target_output)


def test_a_resumed_stream_cuts_its_own_epoch_only(
    pairs: PackedPairs, augmentation: Augmentation, tokenizer: Counting
) -> None:
    whole = take(stream(pairs, augmentation), 40)
    done = next(item.update for item in whole if item.began.epoch == 2) + 1
    before = tokenizer.samples
    take(stream(pairs, augmentation, first=done + 1, since=whole[done - 1].began), 1)
    assert tokenizer.samples - before == 2 * len(pairs)


def test_batches_are_made_from_the_lengths_of_their_epoch(pairs: PackedPairs, augmentation: Augmentation) -> None:
    items = take(stream(pairs, augmentation), 40)
    for item in items:
        size, source = item.batch.source.shape
        assert size * max(source, item.batch.target_output.shape[1]) <= BUDGET
    epochs = {item.began for item in items}
    for began in sorted(epochs, key=lambda began: began.epoch)[:-1]:
        assert sum(len(item.batch) for item in items if item.began == began) == len(pairs)


def test_without_augmentation_nothing_is_changed(pairs: PackedPairs) -> None:
    plain = take(UpdateStream(pairs, batch_tokens=BUDGET, accumulate=1, micro_batches=1, seed=1), 20)
    off = take(stream(pairs, Augmentation(1)), 20)
    assert all(a.batch.source.equal(b.batch.source) for a, b in zip(plain, off, strict=True))
    assert plain[-1].began == off[-1].began
