from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ablatable.data.batches import batch_order, validation_batches

pairs_of_lengths = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=80)
budgets = st.integers(41, 400)


def sides(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(pairs)
    return both[:, 0], both[:, 1]


@given(pairs_of_lengths, budgets, st.integers(0, 2**31 - 1), st.integers(0, 1000))
def test_every_sentence_once_within_the_budget_and_repeatable(
    pairs: list[tuple[int, int]], budget: int, seed: int, epoch: int
) -> None:
    source, target = sides(pairs)
    batches = batch_order(source, target, budget, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(pairs)))
    for batch in batches:
        assert len(batch)
        assert len(batch) * (source[batch].max() + 1) <= budget
        assert len(batch) * (target[batch].max() + 1) <= budget
    again = batch_order(source, target, budget, seed, epoch)
    assert [batch.tolist() for batch in again] == [batch.tolist() for batch in batches]


@given(pairs_of_lengths, st.integers(1, 400))
def test_validation_covers_everything_in_a_fixed_order(pairs: list[tuple[int, int]], budget: int) -> None:
    source, target = sides(pairs)
    batches = validation_batches(source, target, budget)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(pairs)))
    for batch in batches:
        longest = 1 + max(source[batch].max(), target[batch].max())
        assert len(batch) * longest <= budget or len(batch) == 1
    again = validation_batches(source, target, budget)
    assert [batch.tolist() for batch in again] == [batch.tolist() for batch in batches]
