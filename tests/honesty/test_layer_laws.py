"""Laws of a whole model for every norm, placement and feed-forward kind, read off the axes."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.config.tree import activating, leaves
from ablatable.nn.build import build_model
from ablatable.nn.transformer import Transformer

SMALL = Model(layers=2, d_model=16, d_ff=24, heads=2, dropout=0.0)
AXES = ("norm_placement", "norm", "norm_affine", "ffn")


def _models() -> list[object]:
    found = [pytest.param(replace(SMALL, norm_placement="pre", norm="batch"), id="pre-batch")]
    for name in AXES:
        path = f"model.{name}"
        needed = {key.removeprefix("model."): value for key, value in activating(path).items()}
        axis = leaves()[path].axis
        assert axis is not None
        found += [pytest.param(replace(SMALL, **needed, **{name: v}), id=f"{name}={v}") for v in axis.values]
    return found


each_model = pytest.mark.parametrize("config", _models())


def _made(config: Model) -> Transformer:
    """In float64, with gates open and the statistics of a batch remembered."""
    model = build_model(config, 20, 20, 1).double()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64), alpha=0.2)
        model.train()(*_batch())
    return model


def _batch() -> tuple[Tensor, Tensor]:
    source = torch.tensor([[5, 6, 7, 8, 9], [10, 11, 12, 0, 0], [13, 14, 15, 16, 0]])
    target = torch.tensor([[2, 5, 7, 9], [2, 11, 0, 0], [2, 13, 14, 0]])
    return source, target


def _padded(ids: Tensor, extra: int) -> Tensor:
    return torch.cat((ids, ids.new_zeros(ids.shape[0], extra)), dim=1)


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@each_model
def test_amount_and_content_of_padding_change_nothing(config: Model, training: bool) -> None:
    """Neither what is said of a real token nor what is remembered of the batch."""
    plain, padded = _made(config).train(training), _made(config).train(training)
    with torch.no_grad():  # what a pad is embedded as
        padded.source_input.embedding.weight[0] = 100.0
    source, target = _batch()
    expected = plain(source, target)
    got = padded(_padded(source, 4), _padded(target, 3))[:, : target.shape[1]]
    real = target != 0
    torch.testing.assert_close(got[real][:, 1:], expected[real][:, 1:], atol=1e-8, rtol=1e-8)
    for (name, buffer), (_, other) in zip(plain.named_buffers(), padded.named_buffers(), strict=True):
        if buffer.shape == other.shape:  # a table of positions may have grown
            torch.testing.assert_close(other, buffer, atol=1e-8, rtol=1e-8, msg=name)


@each_model
def test_cached_decoding_equals_the_full_forward_pass(config: Model) -> None:
    model = _made(config).eval()
    source, _ = _batch()
    target = torch.tensor([[2, 5, 7, 9], [2, 11, 4, 6], [2, 13, 14, 8]])
    memory = model.encode(source)
    expected = model.decode(target, memory)
    state = model.start(memory, 10)
    steps = [model.step(target[:, t : t + 1], state) for t in range(target.shape[1])]
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, atol=1e-8, rtol=1e-8)


@each_model
def test_in_evaluation_the_future_and_the_neighbours_leave_a_sentence_alone(config: Model) -> None:
    model = _made(config).eval()
    source, target = torch.tensor([[5, 6, 7], [8, 9, 10]]), torch.tensor([[2, 5, 7, 9], [2, 6, 8, 11]])
    before = model(source, target)
    changed = target.clone()
    changed[:, 2] = 12
    after = model(source, changed)
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.equal(before[:, 2:], after[:, 2:])
    alone = model(source[:1], target[:1])
    torch.testing.assert_close(alone[0], before[0], atol=1e-8, rtol=1e-8)


@each_model
def test_other_precisions_and_autocast(config: Model) -> None:
    model = _made(config)
    source, target = _batch()
    exact = model.eval()(source, target)
    single = model.float()(source, target)
    assert (single - exact).abs().max() < 1e-4 * exact.abs().max()
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model.train()(source, target).float()
    rounded.square().mean().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())
    assert model.bfloat16().eval()(source, target).dtype == torch.bfloat16
