from __future__ import annotations

import numpy as np
import pytest
from torch.utils.data import DataLoader

from ablatable.data.batches import batch_order, padding, validation_batches
from ablatable.errors import InputError

Lengths = tuple[np.ndarray, np.ndarray]


def translation_lengths(pairs: int, seed: int = 0) -> Lengths:
    """Lengths spread and correlated as those of 4,000 pieces on LibreOffice help are (medians 16 and 18)."""
    draw = np.random.default_rng(seed)
    source = np.clip(np.exp(draw.normal(2.79, 0.515, pairs)), 4, 228)
    target = np.clip(source * np.exp(draw.normal(0.113, 0.203, pairs)), 4, 263)
    return source.astype(int), target.astype(int)


def members(batches: list[np.ndarray]) -> set[frozenset[int]]:
    return {frozenset(batch.tolist()) for batch in batches}


def test_trn_08_membership_is_reshuffled_by_seed_and_epoch() -> None:
    lengths = np.full(20, 9)
    first, second = (batch_order(lengths, lengths, 40, seed=1, epoch=epoch) for epoch in (0, 1))
    assert [len(batch) for batch in first] == [len(batch) for batch in second] == [4] * 5
    assert members(first) != members(second)
    assert members(first) != members(batch_order(lengths, lengths, 40, seed=2, epoch=0))
    again = batch_order(lengths, lengths, 40, seed=1, epoch=0)
    assert all(np.array_equal(left, right) for left, right in zip(first, again, strict=True))


def test_sentences_of_rare_lengths_change_company_too() -> None:
    source, target = translation_lengths(8000)
    partners: list[dict[int, frozenset[int]]] = []
    for epoch in range(6):
        batches = batch_order(source, target, 4096, seed=1, epoch=epoch)
        partners.append({index: batch for batch in members(batches) for index in batch})
    long = np.flatnonzero(source > 60)
    assert len(long) > 30
    assert all(len({epoch[index] for epoch in partners}) > 1 for index in long.tolist())


def test_the_order_of_batches_is_not_by_length() -> None:
    source, target = translation_lengths(8000)
    longest = [source[batch].max() for batch in batch_order(source, target, 1024, seed=1, epoch=0)]
    assert abs(np.corrcoef(longest, np.arange(len(longest)))[0, 1]) < 0.3


@pytest.mark.parametrize(("budget", "most"), [(1024, 0.03), (4096, 0.05), (25_000, 0.08)])
def test_padding_stays_small(budget: int, most: float) -> None:
    source, target = translation_lengths(30_000)
    for epoch in range(4):
        batches = batch_order(source, target, budget, seed=1, epoch=epoch)
        assert padding(batches, source, target) <= most


@pytest.mark.parametrize("budget", [1024, 4096])
def test_batches_are_full(budget: int) -> None:
    source, target = translation_lengths(30_000)
    batches = batch_order(source, target, budget, seed=1, epoch=0)
    fullest_side = [len(batch) * (1 + max(source[batch].max(), target[batch].max())) / budget for batch in batches]
    assert np.mean(fullest_side) > 0.95


def test_a_small_corpus_keeps_its_budget() -> None:
    """Where little padding would need far more batches, they stay nearly full: here all would fit one."""
    source, target = translation_lengths(60)
    assert len(batch_order(source, target, 25_000, seed=1, epoch=0)) <= 2


def test_padding_is_counted_over_both_sides() -> None:
    # One batch: 2 x (3 + 5) positions hold 3 + 2 and 4 + 5 tokens.
    assert padding([np.array([0, 1])], [2, 1], [3, 4]) == pytest.approx(1 - 14 / 16)


def test_a_sentence_costs_one_more_than_its_pieces_on_either_side() -> None:
    assert len(batch_order([9, 9], [1, 1], 20, seed=1, epoch=0)) == 1
    assert len(batch_order([9, 9], [1, 1], 19, seed=1, epoch=0)) == 2
    assert len(batch_order([1, 1], [9, 9], 19, seed=1, epoch=0)) == 2


def test_a_sentence_longer_than_the_budget_is_refused() -> None:
    assert len(batch_order([15], [3], 16, seed=1, epoch=0)) == 1
    with pytest.raises(InputError, match=r"train\.batch_tokens=16 .* 17 tokens.*data\.max_length"):
        batch_order([3, 16], [3, 4], 16, seed=1, epoch=0)
    with pytest.raises(InputError, match="17 tokens"):
        batch_order([3, 4], [3, 16], 16, seed=1, epoch=0)


def test_validation_keeps_a_sentence_longer_than_the_budget() -> None:
    batches = validation_batches([3, 200, 4, 4], [3, 2, 4, 4], 16)
    assert [1] in [batch.tolist() for batch in batches]
    assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2, 3]


def test_no_sentences_make_no_batches() -> None:
    assert batch_order([], [], 16, seed=1, epoch=0) == []
    assert validation_batches([], [], 16) == []


class Epoch:
    """Batches as a map-style dataset, with numpy's global state drawn from in every item."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> list[int]:
        np.random.random()  # noqa: NPY002 - the global state is what must not matter
        lengths = np.full(16, 9)
        return batch_order(lengths, lengths, 40, seed=1, epoch=self.epoch)[index].tolist()


def test_trn_12_draws_depend_on_seed_epoch_and_index_whatever_the_workers() -> None:
    def items(epoch: int, workers: int) -> list[list[int]]:
        return list(DataLoader(Epoch(epoch), batch_size=None, num_workers=workers))

    here = items(0, 0)
    assert len({tuple(item) for item in here}) == 4
    np.random.seed(12345)  # noqa: NPY002 - as above
    assert items(0, 0) == items(0, 2) == here
    assert items(1, 2) == items(1, 0) != here
