"""What norms remember, start from and bear: batch statistics, initial values, constant input."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.init import initialise
from ablatable.nn.norms import KINDS, BatchNorm, Norm
from ablatable.training.checkpoint import average, load_weights, save_weights


def _made(kind: str, width: int = 4, epsilon: float = 1e-6) -> Norm:
    norm = KINDS[kind](width, epsilon)
    initialise(norm, 1)
    return norm


@pytest.mark.parametrize("kind", KINDS)
def test_initial_values(kind: str) -> None:
    values = {name: parameter.tolist() for name, parameter in _made(kind).named_parameters()}
    scale, shift = {"weight": [1.0] * 4}, {"bias": [0.0] * 4}
    expected = {"rms": scale, "scale": {"weight": [2.0]}, "none": {}}
    assert values == expected.get(kind, scale | shift)


@pytest.mark.parametrize("kind", KINDS)
def test_input_without_spread_gives_no_nan(kind: str) -> None:
    """A zero vector, a constant one and a huge one, and the gradients through them."""
    norm = _made(kind)
    x = torch.tensor([[[0.0] * 4, [3.0] * 4, [1e15] * 4]], requires_grad=True)
    y = norm(x, torch.ones(1, 3, dtype=torch.bool))
    y.sum().backward()
    assert torch.isfinite(y).all()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()
    assert kind in ("batch", "none") or not y[0, 0].any()


def test_scale_norm_gives_every_token_the_length_g() -> None:
    norm = _made("scale")
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(norm(x).norm(dim=-1), torch.full((5,), math.sqrt(4)))
    torch.testing.assert_close(norm(torch.full((4,), 1e-8)), torch.full((4,), 2e-2))  # below epsilon: 2 x / 1e-6


def test_rms_norm_keeps_the_mean() -> None:
    """What sets it apart from layer norm: a constant stays one."""
    torch.testing.assert_close(_made("rms")(torch.full((4,), 3.0)), torch.ones(4))
    torch.testing.assert_close(_made("layer")(torch.full((4,), 3.0)), torch.zeros(4))


def test_min_max_spans_zero_to_one() -> None:
    y = _made("minmax", epsilon=1e-9)(torch.tensor([[1.0, 3.0, 2.0, 5.0], [-1.0, -3.0, 0.0, 1.0]]))
    torch.testing.assert_close(y, torch.tensor([[0.0, 0.5, 0.25, 1.0], [0.5, 0.0, 0.75, 1.0]]))


class _Asked(TorchDispatchMode):
    """Counts the operations whose result has a size that only the device knows."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.times += torch.Tag.dynamic_output_shape in func.tags
        return func(*args, **(kwargs or {}))


class TestBatchStatistics:
    def test_a_tenth_of_each_batch_is_remembered(self) -> None:
        """Mean 2 and unbiased variance 2 of (1, 3); then mean 5, variance 2 of (4, 6)."""
        norm = _made("batch", width=1)
        for values in ([1.0, 3.0], [4.0, 6.0]):
            norm(torch.tensor(values).view(1, 2, 1), torch.ones(1, 2, dtype=torch.bool))
        assert isinstance(norm, BatchNorm)
        assert norm.running_mean.item() == pytest.approx(0.9 * 0.2 + 0.1 * 5)
        assert norm.running_var.item() == pytest.approx(0.9 * (0.9 + 0.2) + 0.1 * 2)

    def test_padding_has_no_part_in_it_whatever_it_holds(self) -> None:
        plain, padded = _made("batch", width=2), _made("batch", width=2)
        x = torch.randn(2, 3, 2, generator=torch.Generator().manual_seed(0))
        filled = torch.full((2, 5, 2), math.nan)
        filled[:, 1:4] = x
        keep = torch.zeros(2, 5, dtype=torch.bool)
        keep[:, 1:4] = True
        got = padded(filled, keep)
        torch.testing.assert_close(got[keep], plain(x, None).flatten(0, 1))
        assert not got[~keep].any()
        for (_, buffer), (_, other) in zip(plain.named_buffers(), padded.named_buffers(), strict=True):
            torch.testing.assert_close(other, buffer)

    @pytest.mark.parametrize("tokens", [0, 1])
    def test_fewer_than_two_tokens_are_normalised_as_in_evaluation(self, tokens: int) -> None:
        norm = _made("batch", width=2)
        norm(torch.randn(1, 9, 2, generator=torch.Generator().manual_seed(0)), None)
        before = [buffer.clone() for buffer in norm.buffers()]
        x = torch.ones(1, 3, 2)
        got = norm(x, torch.arange(3)[None] < tokens)
        assert torch.equal(got[:, :tokens], norm.eval()(x, None)[:, :tokens])
        assert all(torch.equal(now, then) for now, then in zip(norm.buffers(), before, strict=True))

    def test_evaluation_moves_nothing(self) -> None:
        norm = _made("batch", width=2).eval()
        before = [buffer.clone() for buffer in norm.buffers()]
        norm(torch.randn(1, 9, 2), torch.ones(1, 9, dtype=torch.bool))
        assert all(torch.equal(now, then) for now, then in zip(norm.buffers(), before, strict=True))

    def test_a_device_is_waited_for_once_a_sequence_and_not_once_a_norm(self) -> None:
        """How many positions are real is known to the device alone: asking is waiting for it."""
        model = build_model(Model(layers=3, d_model=8, d_ff=12, heads=2, norm="batch"), 20, 20, 1).train()
        asked = _Asked()
        with asked:
            for source, target in (([[5, 6, 3, 0]], [[2, 4, 5]]), ([[5, 3, 0, 0]], [[2, 4, 0]])):
                model(torch.tensor(source), torch.tensor(target))
        assert asked.times == 2 * 2

    def test_they_are_saved_loaded_and_averaged_with_the_weights(self, tmp_path: Path) -> None:
        model = build_model(Model(layers=1, d_model=8, d_ff=12, heads=2, norm="batch"), 20, 20, 1)
        paths = [tmp_path / "1.pt", tmp_path / "2.pt"]
        states = []
        for path in paths:
            model.train()(torch.tensor([[5, 6, 7]]), torch.tensor([[2, 4]]))
            states.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
            save_weights(path, model.state_dict())
        mean = average(paths)
        statistics = [name for name in mean if "running" in name]
        assert len(statistics) == 2 * (2 + 3)
        for name in statistics:
            assert not torch.equal(states[0][name], states[1][name]), name
            assert torch.equal(load_weights(paths[0])[name], states[0][name])
            torch.testing.assert_close(mean[name], (states[0][name] + states[1][name]) / 2)
        model.load_state_dict(mean)
        assert torch.equal(model.state_dict()[statistics[0]], mean[statistics[0]])
