"""Where smoothed mass goes: values of each convention, gradients of the plain formula, NLL untouched."""

import numpy as np
import pytest
import torch
from torch import Tensor

from ablatable.config.axis import Axis
from ablatable.config.training import Training
from ablatable.config.tree import leaves
from ablatable.data.packed import PackedPairs, Side, SplitStats
from ablatable.training import loss as loss_module
from ablatable.training.loss import KINDS, OthersSmoothing, Smoothing, UnigramSmoothing, smoothing_of, token_losses
from ablatable.training.prior import label_counts

LOGITS = [2.0, 1.0, 0.5, -1.0]
COUNTS = torch.tensor([0, 0, 7, 3, 12, 1, 0, 9, 30, 2])


def by_logits(logits: list[float], target: int, smoothing: Smoothing | None) -> tuple[float, float]:
    """Drive the loss with given logits: an identity output matrix."""
    hidden = torch.tensor([logits], dtype=torch.float64)
    sums = token_losses(hidden, torch.eye(len(logits), dtype=torch.float64), torch.tensor([target]), smoothing)
    return float(sums.smoothed), float(sums.nll)


def targets_of(kind: str, mass: float, target: int, counts: Tensor) -> Tensor:
    """The target distribution, written out as its definition says."""
    classes = len(counts)
    right = torch.zeros(classes, dtype=torch.float64)
    right[target] = 1.0
    if kind == "uniform":
        return (1 - mass) * right + mass / classes
    if kind == "others":
        return torch.where(right > 0, torch.tensor(1 - mass, dtype=torch.float64), mass / (classes - 1))
    return (1 - mass) * right + mass * (counts + 1.0).double() / float((counts + 1).sum())


def build(kind: str, mass: float, counts: Tensor = COUNTS) -> Smoothing:
    smoothing = smoothing_of(Training(label_smoothing=mass, smoothing_mass=kind), lambda: counts)
    assert smoothing is not None
    return smoothing


def test_the_kinds_are_those_the_axis_names() -> None:
    axis = leaves()["train.smoothing_mass"].axis
    assert isinstance(axis, Axis)
    assert set(KINDS) == set(axis.choices)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("uniform", 0.6326818981), ("others", 0.6785152314)],
)
def test_loss_01_two_conventions_under_one_epsilon(kind: str, expected: float) -> None:
    smoothed, nll = by_logits(LOGITS, 0, build(kind, 0.1, torch.zeros(4)))
    assert smoothed == pytest.approx(expected, abs=1e-10)
    assert nll == pytest.approx(0.4951818981, abs=1e-10)


def test_loss_01_the_default_is_the_papers() -> None:
    assert type(build(Training().smoothing_mass, Training().label_smoothing)) is Smoothing
    assert float(targets_of("uniform", 0.1, 0, torch.zeros(4))[0]) == pytest.approx(0.925)


def test_loss_02_others_is_uniform_with_another_epsilon() -> None:
    others, _ = by_logits(LOGITS, 0, OthersSmoothing(0.1))
    uniform, _ = by_logits(LOGITS, 0, Smoothing(0.1 * 4 / 3))
    assert others == pytest.approx(uniform, abs=1e-12)


def test_unigram_by_hand() -> None:
    """Counts 5, 0, 2, 1 and one each: p = 6/12, 1/12, 3/12, 2/12; its mean logit is 7/8 and logsumexp 2.4951818981."""
    smoothed, _ = by_logits(LOGITS, 0, UnigramSmoothing(0.1, torch.tensor([5, 0, 2, 1])))
    mean_logit = (6 * 2.0 + 1.0 + 3 * 0.5 - 2 * 1.0) / 12
    assert smoothed == pytest.approx(0.9 * 0.4951818981 + 0.1 * (2.4951818981 - mean_logit), abs=1e-9)


def test_unigram_over_equal_counts_is_uniform() -> None:
    even, _ = by_logits(LOGITS, 1, UnigramSmoothing(0.3, torch.full((4,), 8)))
    assert even == pytest.approx(by_logits(LOGITS, 1, Smoothing(0.3))[0], abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mass", [0.1, 0.4, 0.95])
@pytest.mark.parametrize("rows", [16, 1000])
def test_value_and_gradients_are_those_of_the_plain_formula(
    kind: str, mass: float, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(loss_module._CHUNK_ELEMENTS, "cpu", rows * len(COUNTS))
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(37, 6, dtype=torch.float64, generator=generator, requires_grad=True)
    weight = torch.randn(len(COUNTS), 6, dtype=torch.float64, generator=generator, requires_grad=True)
    labels = torch.randint(0, len(COUNTS), (37,), generator=generator)
    sums = token_losses(hidden, weight, labels, build(kind, mass))
    ours = torch.autograd.grad(sums.smoothed * 0.3, (hidden, weight))
    wanted = torch.stack([targets_of(kind, mass, int(label), COUNTS) for label in labels])
    assert wanted.sum(dim=1).tolist() == pytest.approx([1.0] * 37)
    expected = -(wanted * (hidden @ weight.t()).log_softmax(dim=1)).sum()
    theirs = torch.autograd.grad(expected * 0.3, (hidden, weight))
    torch.testing.assert_close(sums.smoothed, expected, rtol=0, atol=1e-9)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_smoothing_leaves_nll_and_accuracy_alone(kind: str) -> None:
    """LOSS-06, to the last bit: what is reported as perplexity does not know of the smoothing."""
    generator = torch.Generator().manual_seed(4)
    hidden, weight = torch.randn(50, 8, generator=generator), torch.randn(len(COUNTS), 8, generator=generator)
    labels = torch.randint(0, len(COUNTS), (50,), generator=generator)
    plain = token_losses(hidden, weight, labels, None)
    smoothed = token_losses(hidden, weight, labels, build(kind, 0.2))
    assert smoothed.nll.equal(plain.nll)
    assert smoothed.correct.equal(plain.correct)
    assert not smoothed.smoothed.equal(plain.smoothed)


@pytest.mark.parametrize("kind", KINDS)
def test_loss_09_loss_11_classes_without_probability_stay_finite(kind: str) -> None:
    """Probabilities that underflow to 0, and classes that no text has: mass on them has a finite price."""
    hidden = torch.tensor([[2.0, 1.0, 0.5, -1e4]], requires_grad=True)
    sums = token_losses(hidden, torch.eye(4), torch.tensor([0]), build(kind, 0.1, torch.tensor([3, 1, 1, 0])))
    sums.smoothed.backward()
    assert torch.isfinite(sums.smoothed)
    assert hidden.grad is not None
    assert torch.isfinite(hidden.grad).all()


def test_labels_are_counted_with_one_end_mark_a_sentence() -> None:
    ids, offsets = np.array([4, 5, 4, 4, 6], np.uint16), np.array([0, 3, 5], np.int64)
    side = Side(ids, offsets)
    pairs = PackedPairs(side, side, SplitStats())
    assert label_counts(pairs, 8).tolist() == [0, 0, 0, 2, 3, 1, 1, 0]


def test_counting_does_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = np.random.default_rng(1).integers(4, 50, 1000).astype(np.int32)
    side = Side(ids, np.array([0, 400, 1000], np.int64))
    pairs = PackedPairs(side, side, SplitStats())
    whole = label_counts(pairs, 50)
    monkeypatch.setattr("ablatable.training.prior._CHUNK", 7)
    assert label_counts(pairs, 50).equal(whole)
    assert int(whole.sum()) == 1002


def test_the_text_is_counted_only_where_the_kind_asks() -> None:
    def refuse() -> Tensor:
        raise AssertionError("counted")

    assert smoothing_of(Training(label_smoothing=0.0), refuse) is None
    for kind in ("uniform", "others"):
        smoothing_of(Training(smoothing_mass=kind), refuse)
    with pytest.raises(AssertionError, match="counted"):
        smoothing_of(Training(smoothing_mass="unigram"), refuse)
