"""The parts one at a time: scale, norm, residual, feed-forward, dropout, positions, embeddings."""

import math

import pytest
import torch

from ablatable.errors import InputError
from ablatable.nn.attention import AttentionCore
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import Embedding, StackInput, TargetLanguage
from ablatable.nn.ffn import ReluFeedForward
from ablatable.nn.norms import LayerNorm
from ablatable.nn.positions import LearnedPositions, NoPositions, SinusoidalPositions, interleaved
from ablatable.nn.residual import PostNorm
from ablatable.nn.scores import ProductScore


def _set(parameter: torch.nn.Parameter, values: object) -> None:
    with torch.no_grad():
        parameter.copy_(torch.as_tensor(values, dtype=parameter.dtype))


def test_an_attention_of_unknown_kernel_is_not_guessed() -> None:
    with pytest.raises(ValueError, match="kernel"):
        AttentionCore(ProductScore(1.0), kernel="flash")  # type: ignore[arg-type]  # that is what is tested


def test_arch_09_biased_variance_with_epsilon_inside_the_root() -> None:
    norm = LayerNorm(4, 1e-5)
    _set(norm.weight, torch.ones(4))
    _set(norm.bias, torch.zeros(4))
    expected = torch.tensor([-1.34163547, -0.44721182, 0.44721182, 1.34163547])
    torch.testing.assert_close(norm(torch.tensor([1.0, 2.0, 3.0, 4.0])), expected, atol=1e-6, rtol=0)
    norm.epsilon = 0.1
    expected = torch.tensor([-1.5, -0.5, 0.5, 1.5]) / math.sqrt(1.25 + 0.1)
    torch.testing.assert_close(norm(torch.tensor([1.0, 2.0, 3.0, 4.0])), expected, atol=1e-6, rtol=0)


def test_post_norm_normalises_the_sum() -> None:
    norm = LayerNorm(4, 1e-6)
    _set(norm.weight, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    _set(norm.bias, torch.tensor([0.0, 0.0, 1.0, 0.0]))
    x = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    block = PostNorm(lambda: norm, Dropout(0.5)).eval()
    torch.testing.assert_close(block(x, None, lambda y, factor: y * factor, 3.0), norm(4 * x))


def test_feed_forward_is_two_maps_around_a_relu() -> None:
    feed_forward = ReluFeedForward(2, 3)
    _set(feed_forward.inner.weight, [[1, 0], [0, 1], [-1, -1]])
    _set(feed_forward.inner.bias, [0, 1, 0])
    _set(feed_forward.outer.weight, [[1, 1, 1], [0, 2, 0]])
    _set(feed_forward.outer.bias, [10, 0])
    out = feed_forward(torch.tensor([[[2.0, -3.0]], [[-1.0, 0.0]]]))
    assert out.tolist() == [[[13.0, 0.0]], [[12.0, 2.0]]]


def test_arch_03_scale_then_add_positions() -> None:
    embedding = Embedding(3, 4)
    _set(embedding.weight, [[0, 0, 0, 0], [0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4]])
    stack = StackInput(embedding, SinusoidalPositions(4, interleaved), Dropout(0.0))
    expected = torch.tensor([1.04147100, 0.94030225, 0.60999983, 1.79995000])
    torch.testing.assert_close(stack(torch.tensor([[2]]), offset=1)[0, 0], expected, atol=1e-6, rtol=0)


def test_the_pad_row_gets_no_gradient_from_looking_it_up() -> None:
    embedding = Embedding(3, 4)
    _set(embedding.weight, torch.ones(3, 4))
    embedding(torch.tensor([[0, 2]])).sum().backward()
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.tolist() == [[0.0] * 4, [0.0] * 4, [2.0] * 4]


def test_the_target_language_is_added_to_every_source_position() -> None:
    language = TargetLanguage(4)
    _set(language.weight, torch.arange(128.0).view(32, 4))
    assert language(torch.ones(2, 3, 4)).equal(torch.tensor([1.0, 2.0, 3.0, 4.0]).expand(2, 3, 4))


def test_learned_positions_add_their_rows_and_refuse_more() -> None:
    positions = LearnedPositions(2, 4)
    _set(positions.weight, [[0, 1], [2, 3], [4, 5], [6, 7]])
    assert positions(torch.zeros(1, 2, 2), 2).tolist() == [[[4.0, 5.0], [6.0, 7.0]]]
    with pytest.raises(InputError, match=r"5 positions is longer than model\.position_max=4"):
        positions(torch.zeros(1, 2, 2), 3)


def test_no_positions_add_nothing() -> None:
    x = torch.ones(1, 2, 2)
    assert NoPositions()(x, 5) is x


class TestDropout:
    @pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
    def test_rate_scale_and_independence(self, rate: float) -> None:
        torch.manual_seed(0)
        kept = Dropout(rate)(torch.ones(400, 1000))
        zero = kept == 0
        assert zero.float().mean().item() == pytest.approx(rate, abs=0.003)
        assert kept.max().item() == pytest.approx(1 / (1 - rate), rel=1e-4)
        assert set(kept.unique().tolist()) == {0.0, kept.max().item()}
        for lane in range(4):  # four elements share one random word
            assert zero.flatten()[lane::4].float().mean().item() == pytest.approx(rate, abs=0.005)
        for distance in (1, 2, 3, 4, 1000):
            both = (zero.flatten()[distance:] & zero.flatten()[:-distance]).float().mean().item()
            assert both == pytest.approx(rate * rate, abs=0.004)

    def test_the_gradient_passes_where_the_value_passed(self) -> None:
        torch.manual_seed(0)
        residual, x = torch.randn(30, 7, requires_grad=True), torch.randn(30, 7, requires_grad=True)
        added = Dropout(0.4).add_to(residual, x) - residual
        gradient_residual, gradient_x = torch.autograd.grad((added + residual).sum(), (residual, x))
        assert torch.equal(gradient_residual, torch.ones(30, 7))
        torch.testing.assert_close(gradient_x, added / x, atol=1e-4, rtol=1e-4)
        assert (gradient_x == 0).any()

    def test_it_repeats_with_the_seed(self) -> None:
        dropout, x = Dropout(0.5), torch.ones(64)
        torch.manual_seed(3)
        first = dropout(x)
        second = dropout(x)
        torch.manual_seed(3)
        assert torch.equal(dropout(x), first)
        assert not torch.equal(first, second)

    @pytest.mark.parametrize("dropout", [Dropout(0.0), Dropout(0.5).eval()])
    def test_without_dropout_nothing_is_drawn(self, dropout: Dropout) -> None:
        before = torch.get_rng_state()
        x = torch.randn(5, generator=torch.Generator().manual_seed(0))
        assert torch.equal(dropout(x), x)
        assert torch.equal(dropout.add_to(x, x), 2 * x)
        assert torch.equal(torch.get_rng_state(), before)

    def test_an_odd_number_of_elements_and_bfloat16(self) -> None:
        torch.manual_seed(0)
        x = torch.ones(3, 3, dtype=torch.bfloat16)
        assert Dropout(0.5)(x).dtype == torch.bfloat16
        assert Dropout(0.5).add_to(torch.ones(3, 3), x).dtype == torch.float32
