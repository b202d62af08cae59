"""The training text as a pure function of (seed, update), split without overlap or loss."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from ablatable.data.packed import PackedPairs, Side, SplitStats
from ablatable.training.stream import MicroBatch, UpdateStream


def side(rng: np.random.Generator, sentences: int) -> Side:
    lengths = rng.integers(1, 12, sentences)
    offsets = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
    # Each sentence repeats its own number, so that it can be recognised in a batch.
    ids = np.repeat(np.arange(4, 4 + sentences), lengths).astype(np.uint16)
    return Side(ids, offsets)


@pytest.fixture
def pairs() -> PackedPairs:
    rng = np.random.default_rng(5)
    return PackedPairs(side(rng, 200), side(rng, 200), SplitStats())


def stream(pairs: PackedPairs, **changed: int) -> UpdateStream:
    settings = {"batch_tokens": 64, "accumulate": 1, "micro_batches": 1, "seed": 1} | changed
    return UpdateStream(pairs, **settings)


def take(items: UpdateStream, updates: int) -> list[MicroBatch]:
    return list(islice(iter(items), updates * items.passes))


def sentences(items: list[MicroBatch]) -> Counter[int]:
    return Counter(int(row[0]) for item in items for row in item.batch.source if item.batch.target_tokens)


def test_starting_later_is_the_same_text(pairs: PackedPairs) -> None:
    whole = take(stream(pairs, accumulate=2), 60)
    later = take(stream(pairs, accumulate=2, first=41), 20)
    for a, b in zip(whole[80:], later, strict=True):
        assert a.update == b.update
        assert a.batch.source.equal(b.batch.source)
        assert a.batch.target_output.equal(b.batch.target_output)


@pytest.mark.parametrize(("ranks", "micro_batches"), [(2, 1), (3, 1), (1, 4), (2, 3), (16, 1)])
def test_ranks_and_passes_share_every_update_without_overlap_or_loss(
    pairs: PackedPairs, ranks: int, micro_batches: int
) -> None:
    """TRN-07: the union over ranks is what one process sees, and every rank counts the same tokens."""
    alone = take(stream(pairs), 30)
    shared = [take(stream(pairs, ranks=ranks, rank=rank, micro_batches=micro_batches), 30) for rank in range(ranks)]
    for update in range(30):
        mine = [item for items in shared for item in items[update * micro_batches : (update + 1) * micro_batches]]
        assert sentences(mine) == sentences([alone[update]])
        assert {item.update_tokens for item in mine} == {alone[update].batch.target_tokens}
        assert sum(item.batch.target_tokens for item in mine) == alone[update].batch.target_tokens


def test_an_epoch_is_every_sentence_once_and_the_next_is_in_another_order(pairs: PackedPairs) -> None:
    items = take(stream(pairs), 200)
    seen: Counter[int] = Counter()
    first: list[int] = []
    for item in items:
        if len(seen) == 200:
            break
        rows = [int(row[0]) for row in item.batch.source]
        first += rows
        seen.update(rows)
    assert set(seen.values()) == {1}
    second = [int(row[0]) for item in items[len(first) :] for row in item.batch.source]
    assert first != second[: len(first)]


def test_seeds_differ_and_repeat(pairs: PackedPairs) -> None:
    one, again, two = (take(stream(pairs, seed=seed), 5) for seed in (1, 1, 2))
    assert all(a.batch.source.equal(b.batch.source) for a, b in zip(one, again, strict=True))
    assert any(not a.batch.source.equal(b.batch.source) for a, b in zip(one, two, strict=True))


def test_loss_08_accumulation_counts_the_tokens_of_the_whole_update(pairs: PackedPairs) -> None:
    items = take(stream(pairs, accumulate=3), 4)
    for update in range(4):
        parts = items[3 * update : 3 * update + 3]
        assert {item.update_tokens for item in parts} == {sum(item.batch.target_tokens for item in parts)}
        assert [item.part for item in parts] == [0, 1, 2]


def test_nothing_is_written(pairs: PackedPairs, tmp_path: Path) -> None:
    take(stream(pairs), 1)
    assert list(tmp_path.iterdir()) == []
