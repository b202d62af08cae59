"""Smoothed cross-entropy in chunks: the values of the known conventions, exact gradients, bounded memory."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ablatable.training import loss as loss_module
from ablatable.training.loss import Smoothing, UnigramSmoothing, token_losses

LOGITS = [2.0, 1.0, 0.5, -1.0]


def by_logits(logits: list[float], target: int, smoothing: float) -> tuple[float, float]:
    """Drive the loss with given logits: an identity output matrix."""
    hidden = torch.tensor([logits], dtype=torch.float64)
    sums = token_losses(
        hidden,
        torch.eye(len(logits), dtype=torch.float64),
        torch.tensor([target]),
        Smoothing(smoothing) if smoothing else None,
    )
    return float(sums.smoothed), float(sums.nll)


def test_loss_01_smoothing_over_all_classes() -> None:
    smoothed, nll = by_logits(LOGITS, 0, 0.1)
    assert smoothed == pytest.approx(0.6326818981, abs=1e-10)
    assert nll == pytest.approx(0.4951818981, abs=1e-10)


def test_loss_02_the_other_convention_is_another_rate() -> None:
    smoothed, _ = by_logits(LOGITS, 0, 0.1 * 4 / 3)
    assert smoothed == pytest.approx(0.6785152314, abs=1e-10)


def test_loss_06_perplexity_is_of_the_nll() -> None:
    smoothed, nll = by_logits(LOGITS, 0, 0.1)
    assert math.exp(nll) == pytest.approx(1.6407966697, abs=1e-9)
    assert math.exp(smoothed) == pytest.approx(1.8826528980, abs=1e-9)


def test_smoothing_zero_is_cross_entropy() -> None:
    smoothed, nll = by_logits(LOGITS, 2, 0.0)
    assert smoothed == nll


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loss_module._CHUNK_ELEMENTS, "cpu", 16 * 50)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("tokens", [1, 16, 17, 100])
def test_sums_and_gradients_equal_torchs(smoothing: float, tokens: int) -> None:
    generator = torch.Generator().manual_seed(tokens)
    hidden = torch.randn(tokens, 8, dtype=torch.float64, generator=generator, requires_grad=True)
    weight = torch.randn(50, 8, dtype=torch.float64, generator=generator, requires_grad=True)
    targets = torch.randint(0, 50, (tokens,), generator=generator)
    sums = token_losses(hidden, weight, targets, Smoothing(smoothing) if smoothing else None)
    ours = torch.autograd.grad(sums.smoothed * 0.3, (hidden, weight))
    expected = F.cross_entropy(hidden @ weight.t(), targets, label_smoothing=smoothing, reduction="sum")
    theirs = torch.autograd.grad(expected * 0.3, (hidden, weight))
    torch.testing.assert_close(sums.smoothed, expected, rtol=0, atol=1e-9)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10)
    right = (hidden @ weight.t()).argmax(1) == targets
    assert int(sums.correct) == int(right.sum())
    assert sums.tokens == tokens


def test_gradcheck() -> None:
    hidden = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([0, 6, 2, 2, 5])

    def smoothed(states: Tensor, matrix: Tensor) -> Tensor:
        return token_losses(states, matrix, targets, Smoothing(0.1)).smoothed

    assert torch.autograd.gradcheck(smoothed, (hidden, weight))


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("smoothing", [Smoothing(0.1), UnigramSmoothing(0.1, torch.arange(500))])
def test_the_whole_matrix_is_never_held(smoothing: Smoothing) -> None:
    """Peak of what one call allocates stays below a fraction of (tokens x vocabulary)."""
    tokens, vocabulary = 800, 500
    hidden = torch.randn(tokens, 8, requires_grad=True)
    weight = torch.randn(vocabulary, 8, requires_grad=True)
    targets = torch.randint(0, vocabulary, (tokens,))
    with torch.profiler.profile(profile_memory=True) as profile:
        token_losses(hidden, weight, targets, smoothing).smoothed.backward()
    largest = max(event.self_cpu_memory_usage // max(1, event.count) for event in profile.key_averages())
    assert largest < tokens * vocabulary * 4 / 8


def test_bf16_autocast_keeps_float32_sums_and_gradients() -> None:
    hidden = torch.randn(64, 16, requires_grad=True)
    weight = torch.randn(100, 16, requires_grad=True)
    targets = torch.randint(0, 100, (64,))
    with torch.autocast("cpu", torch.bfloat16):
        sums = token_losses(hidden, weight, targets, Smoothing(0.1))
    sums.smoothed.backward()
    assert sums.nll.dtype == torch.float32
    assert hidden.grad is not None
    assert hidden.grad.dtype == weight.grad.dtype == torch.float32  # pyright: ignore[reportOptionalMemberAccess]
    expected = F.cross_entropy(hidden @ weight.t(), targets, label_smoothing=0.1, reduction="sum")
    assert float(sums.smoothed) == pytest.approx(float(expected), rel=0.02)


def test_no_gradient_is_made_where_none_is_wanted() -> None:
    with torch.no_grad():
        sums = token_losses(torch.randn(5, 4), torch.randn(9, 4), torch.zeros(5, dtype=torch.long), None)
    assert not sums.smoothed.requires_grad
