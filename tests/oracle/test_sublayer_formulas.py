"""Residual connections and feed-forward kinds against their formulas in float64."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.config.tree import leaves
from ablatable.nn import ffn, residual
from ablatable.nn.build import build_model
from ablatable.nn.dropout import Dropout
from ablatable.nn.masks import EVERYTHING
from ablatable.nn.norms import LayerNorm

SMALL = Model(layers=2, d_model=8, d_ff=12, heads=2)


def _disturb(module: torch.nn.Module) -> None:
    """Biases, norms and gates get values that a mistake would show."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))


def _input(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize(("path", "kinds"), [("model.norm_placement", residual.KINDS), ("model.ffn", ffn.KINDS)])
def test_there_is_one_class_for_each_value_of_the_axis(path: str, kinds: dict[str, object]) -> None:
    axis = leaves()[path].axis
    assert axis is not None
    assert list(kinds) == list(axis.choices)


Apply = Callable[[Tensor], Tensor]
PLACEMENTS: dict[str, Callable[[residual.Residual, Tensor, Apply, Apply], Tensor]] = {
    "post": lambda r, x, f, drop: r.norm(x + drop(f(x))),
    "pre": lambda r, x, f, drop: x + drop(f(r.norm(x))),
    "sandwich": lambda r, x, f, drop: x + r.output_norm(drop(f(r.norm(x)))),
    "rezero": lambda r, x, f, drop: x + r.gate * drop(f(x)),
}


@pytest.mark.parametrize("rate", [0.0, 0.4])
@pytest.mark.parametrize("placement", residual.KINDS)
def test_each_placement_equals_its_formula(placement: str, rate: float) -> None:
    wrapped = residual.KINDS[placement](lambda: LayerNorm(8, 0.1), Dropout(rate)).double()
    _disturb(wrapped)
    x = _input(2, 3, 8)
    torch.manual_seed(3)
    got = wrapped(x, None, lambda y, factor: torch.sin(y) * factor, 2.0)
    torch.manual_seed(3)
    expected = PLACEMENTS[placement](wrapped, x, lambda y: torch.sin(y) * 2.0, Dropout(rate))
    torch.testing.assert_close(got, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize(("placement", "norms"), [("post", 2), ("pre", 3), ("sandwich", 5), ("rezero", 0)])
def test_a_stack_is_its_sub_layers_in_order_and_its_final_norm(placement: str, norms: int) -> None:
    """The encoder by hand, with a final norm for pre and sandwich and for no other (ARCH-07)."""
    model = build_model(replace(SMALL, layers=1, norm_placement=placement), 20, 20, 1).double().eval()
    _disturb(model)
    encoder, x = model.encoder, _input(2, 3, 8)
    layer = encoder.layers[0]
    wrap = PLACEMENTS[placement]
    expected = wrap(layer.self_residual, x, lambda y: layer.self_attention(y, EVERYTHING), Dropout(0.0))
    expected = wrap(layer.feed_forward_residual, expected, layer.feed_forward, Dropout(0.0))
    if placement in ("pre", "sandwich"):
        expected = encoder.final_norm(expected)
    keep = torch.ones(2, 3, dtype=torch.bool)
    torch.testing.assert_close(encoder(x, keep, EVERYTHING), expected, atol=1e-10, rtol=0)
    assert sum(isinstance(module, LayerNorm) for module in encoder.modules()) == norms


def test_without_norms_post_is_the_plain_residual() -> None:
    model = build_model(replace(SMALL, layers=1, norm="none"), 20, 20, 1).double().eval()
    layer, x = model.encoder.layers[0], _input(2, 3, 8)
    y = x + layer.self_attention(x, EVERYTHING)
    expected = y + layer.feed_forward(y)
    got = model.encoder(x, torch.ones(2, 3, dtype=torch.bool), EVERYTHING)
    torch.testing.assert_close(got, expected, atol=1e-10, rtol=0)


def test_a_stack_of_shut_gates_is_the_identity() -> None:
    model = build_model(replace(SMALL, norm_placement="rezero"), 20, 20, 1)
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model.encoder(x, torch.ones(2, 3, dtype=torch.bool), EVERYTHING), x)


def _affine(x: list[float], weight: Tensor, bias: Tensor) -> list[float]:
    rows = weight.reshape(weight.shape[0], -1).tolist()
    return [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(rows, bias.tolist(), strict=True)]


def _relu(part: ffn.FeedForward, x: list[float]) -> list[float]:
    return [max(0.0, value) for value in _affine(x, part.inner.weight, part.inner.bias)]


def _gelu(part: ffn.FeedForward, x: list[float]) -> list[float]:
    inner = _affine(x, part.inner.weight, part.inner.bias)
    return [value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in inner]


def _swiglu(part: ffn.FeedForward, x: list[float]) -> list[float]:
    gate = _affine(x, part.gate.weight, part.gate.bias)
    inner = _affine(x, part.inner.weight, part.inner.bias)
    return [g / (1 + math.exp(-g)) * value for g, value in zip(gate, inner, strict=True)]


INNER = {"relu": _relu, "gelu": _gelu, "swiglu": _swiglu, "conv1x1": _relu}


@pytest.mark.parametrize("kind", [name for name, made in ffn.KINDS.items() if made is not None])
def test_each_feed_forward_equals_its_formula(kind: str) -> None:
    made = ffn.KINDS[kind]
    assert made is not None
    part = made.of(replace(SMALL, ffn=kind)).double()
    _disturb(part)
    x = _input(2, 3, 8)
    inner = [INNER[kind](part, row) for row in x.flatten(0, 1).tolist()]
    expected = [_affine(row, part.outer.weight, part.outer.bias) for row in inner]
    assert {len(row) for row in inner} == {8 if kind == "swiglu" else 12}
    assert part.inner.weight.ndim == (3 if kind == "conv1x1" else 2)
    torch.testing.assert_close(part(x), torch.tensor(expected, dtype=x.dtype).view_as(x), atol=1e-10, rtol=0)


def test_without_feed_forward_a_layer_is_its_attention() -> None:
    model = build_model(replace(SMALL, layers=1, ffn="none"), 20, 20, 1).double().eval()
    _disturb(model)
    layer, x = model.encoder.layers[0], _input(2, 3, 8)
    expected = PLACEMENTS["post"](layer.self_residual, x, lambda y: layer.self_attention(y, EVERYTHING), Dropout(0.0))
    got = model.encoder(x, torch.ones(2, 3, dtype=torch.bool), EVERYTHING)
    torch.testing.assert_close(got, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("kind", [name for name, made in ffn.KINDS.items() if made is not None])
def test_dropout_inside_falls_on_what_the_outer_map_reads(kind: str) -> None:
    """The share of dropped elements is the rate, the rest is scaled by 1 / (1 - rate)."""
    made = ffn.KINDS[kind]
    assert made is not None
    part = made.of(replace(SMALL, ffn=kind, d_ff=600, dropout_ffn=0.25))
    _disturb(part)
    read: list[Tensor] = []
    part.outer.register_forward_pre_hook(lambda _, args: read.append(args[0]))
    x = torch.randn(4, 9, 8, generator=torch.Generator().manual_seed(0))
    part.eval()(x)
    torch.manual_seed(1)
    part.train()(x)
    whole, dropped = read
    gone = (dropped == 0) & (whole != 0)
    assert gone.float().sum() / (whole != 0).sum() == pytest.approx(0.25, abs=0.02)
    torch.testing.assert_close(dropped[~gone], whole[~gone] / 0.75, atol=1e-4, rtol=1e-4)


def test_a_convolution_of_width_one_is_the_linear_feed_forward() -> None:
    """With the same seed the same initial values, the same function and the same gradients."""
    linear, convolution = (build_model(replace(SMALL, ffn=kind), 20, 20, 1) for kind in ("relu", "conv1x1"))
    ours, theirs = dict(linear.named_parameters()), dict(convolution.named_parameters())
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name].view_as(ours[name])) for name in ours)
    source, target = torch.tensor([[5, 6, 7], [8, 9, 0]]), torch.tensor([[2, 4], [2, 5]])
    first, second = linear.eval()(source, target), convolution.eval()(source, target)
    torch.testing.assert_close(first, second, atol=1e-5, rtol=0)
    first.square().sum().backward()
    second.square().sum().backward()
    for name, parameter in ours.items():
        torch.testing.assert_close(theirs[name].grad.view_as(parameter), parameter.grad, atol=1e-4, rtol=1e-4)
