"""Time and memory of calls whose cost is known."""

import time

import pytest
import torch

from ablatable.analysis.complexity.layers import build
from ablatable.analysis.complexity.timing import call_of, peak_memory, sample, still


def test_a_sample_is_the_time_of_one_call() -> None:
    wall, busy, calls = sample(lambda: time.sleep(0.01), "cpu", 0.05)
    assert 0.01 <= wall < 0.2
    assert busy < 0.005
    assert 1 <= calls <= 5


def test_peak_memory_is_the_most_at_one_moment() -> None:
    """Two of 4,000 bytes at once, then one of 6,000: 8,000, not their sum and not the last."""

    def call() -> torch.Tensor:
        first, second = torch.empty(1000), torch.empty(1000)
        del first, second
        return torch.empty(1500)

    assert peak_memory(call, "cpu") == 8000


@pytest.mark.parametrize(("n", "d"), [(64, 64), (128, 128), (256, 64)])
def test_attention_holds_scores_and_weights_of_every_head(n: int, d: int) -> None:
    """Two matrices n x n a head, float32; the context is made once the scores are gone."""
    heads = d // 64
    peak = peak_memory(call_of(build("self-attention", n, d, 3, 65), backward=False), "cpu")
    assert peak == pytest.approx(2 * heads * n * n * 4, rel=0.6)
    assert peak >= 2 * heads * n * n * 4


def test_a_banded_core_does_not_hold_the_matrix() -> None:
    small, large = (peak_memory(call_of(build("restricted", n, 64, 3, 33), False), "cpu") for n in (256, 1024))
    assert large == pytest.approx(4 * small, rel=0.05)


def test_a_backward_pass_makes_every_gradient_and_costs_more() -> None:
    case = build("convolutional", 64, 64, 3, 65)
    forward = peak_memory(call_of(case, backward=False), "cpu")
    gradients = call_of(case, backward=True)()
    assert isinstance(gradients, tuple)
    assert [gradient.shape for gradient in gradients] == [leaf.shape for leaf in case.leaves]
    assert peak_memory(call_of(case, backward=True), "cpu") > forward


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    with still(2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before
