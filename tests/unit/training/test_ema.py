"""The running average: its formula, shared tensors once, exactly resumable."""

import io

import pytest
import torch
from torch import Tensor, nn

from ablatable.training.ema import RunningAverage


def walk(model: nn.Module, average: RunningAverage, first: int, last: int) -> list[Tensor]:
    """Move the weights and average them; the weights after each update."""
    seen: list[Tensor] = []
    for update in range(first, last + 1):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(update)))
        average.add(model, update)
        seen.append(next(model.parameters()).detach().double().clone())
    return seen


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.9999])
def test_it_is_the_weighted_mean_of_the_weights_after_each_update(decay: float) -> None:
    model, average = nn.Linear(3, 2), RunningAverage(decay)
    seen = walk(model, average, 1, 12)
    shares = [(1 - decay) * decay ** (12 - update) / (1 - decay**12) for update in range(1, 13)]
    assert sum(shares) == pytest.approx(1.0)
    expected = torch.stack([share * weight for share, weight in zip(shares, seen, strict=True)]).sum(0)
    torch.testing.assert_close(average.weights(model)["weight"].double(), expected, rtol=0, atol=1e-5)


def test_the_first_average_is_the_first_weights_and_does_not_follow_them() -> None:
    model, average = nn.Linear(3, 2), RunningAverage(0.9)
    (first,) = walk(model, average, 1, 1)
    with torch.no_grad():
        model.weight.add_(1.0)
    assert average.weights(model)["weight"].double().equal(first)


def test_trn_09_a_tensor_with_two_names_is_averaged_once() -> None:
    model, alone = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), nn.Linear(3, 3)
    model[1].weight = model[0].weight
    alone.load_state_dict(model[0].state_dict())
    average, plain = RunningAverage(0.8), RunningAverage(0.8)
    walk(model, average, 1, 5)
    walk(alone, plain, 1, 5)
    weights = average.weights(model)
    assert set(weights) == set(model.state_dict())
    assert weights["0.weight"].equal(weights["1.weight"])
    assert weights["0.weight"].equal(plain.weights(alone)["weight"])


def test_training_is_left_alone() -> None:
    model, other = nn.Linear(3, 2), nn.Linear(3, 2)
    other.load_state_dict(model.state_dict())
    walk(model, RunningAverage(0.9), 1, 3)
    walk(other, RunningAverage(0.5), 1, 3)
    assert model.weight.equal(other.weight)


def test_going_on_from_a_checkpoint_is_never_having_stopped() -> None:
    model, average = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), RunningAverage(0.9)
    model[1].weight = model[0].weight
    walk(model, average, 1, 4)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "ema": average.weights(model)}, file)
    walk(model, average, 5, 9)
    file.seek(0)
    state = torch.load(file)
    resumed, later = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), RunningAverage(0.9)
    resumed[1].weight = resumed[0].weight
    resumed.load_state_dict(state["model"])
    later.restore(state["ema"])
    walk(resumed, later, 5, 9)
    wanted, got = average.weights(model), later.weights(resumed)
    assert all(got[name].equal(tensor) for name, tensor in wanted.items())


def test_running_statistics_are_averaged_and_counts_are_the_latest() -> None:
    model, average = nn.BatchNorm1d(2), RunningAverage(0.5)
    means: list[Tensor] = []
    for update in (1, 2):
        model(torch.full((4, 2), float(update)) + torch.arange(4.0)[:, None])
        average.add(model, update)
        assert model.running_mean is not None
        means.append(model.running_mean.clone())
    weights = average.weights(model)
    torch.testing.assert_close(weights["running_mean"], (means[0] + 2 * means[1]) / 3)
    assert int(weights["num_batches_tracked"]) == 2
