"""What is said of a head, by hand."""

import math

import pytest
import torch

from ablatable.analysis.attention.statistics import even, statistics

ALL = torch.ones(3, 3, dtype=torch.bool)
CAUSAL = ALL.tril()


def test_a_head_that_looks_one_back() -> None:
    weights = torch.tensor([[[1.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    (found,) = statistics(weights, CAUSAL, "decoder-self")
    # The first query sees itself alone and is left out.
    assert (found.previous, found.diagonal, found.distance, found.bos) == (1.0, 0.0, 1.0, 0.5)
    assert (found.entropy, found.effective, found.largest) == (0.0, 1.0, 1.0)
    assert found.next is None
    assert found.eos is None


def test_a_head_that_looks_everywhere() -> None:
    (found,) = statistics(even(ALL)[None], ALL, "encoder-self")
    assert found.entropy == pytest.approx(math.log(3))
    assert found.effective == pytest.approx(3)
    assert found.distance == pytest.approx((3 + 2 + 3) / 9)
    assert found.diagonal == pytest.approx(1 / 3)
    assert found.previous == pytest.approx(2 / 9)
    assert found.next == pytest.approx(2 / 9)
    assert found.eos == pytest.approx(1 / 3)
    assert found.bos is None


def test_even_weights_are_shared_by_what_is_seen() -> None:
    assert even(CAUSAL).tolist()[1] == [0.5, 0.5, 0]


def test_each_head_has_its_own_and_a_rectangle_works() -> None:
    weights = torch.tensor([[[0.5, 0.5, 0, 0], [0, 0, 0, 1.0]], [[0.0, 1, 0, 0], [0, 1, 0, 0]]])
    first, second = statistics(weights, torch.ones(2, 4, dtype=torch.bool), "cross")
    assert first.eos == 0.5
    assert first.diagonal == 0.25
    assert first.distance == pytest.approx((0.5 + 2) / 2)
    assert (second.next, second.diagonal, second.distance) == (0.5, 0.5, 0.5)


def test_one_position_has_no_choice() -> None:
    (found,) = statistics(torch.ones(1, 1, 1), torch.ones(1, 1, dtype=torch.bool), "decoder-self")
    assert found.entropy == found.largest == found.distance == 0.0
