"""Every norm against its formula, one number at a time in float64, and against PyTorch's module of that name."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.tree import leaves
from ablatable.nn.norms import KINDS, BatchNorm, LayerNorm, Norm, RMSNorm, ScaleNorm

WIDTH = 5
KEEP = torch.tensor([[True, True, True, False], [True, False, False, False], [True, True, True, True]])


def _layer(x: list[float], epsilon: float) -> list[float]:
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    return [(value - mean) / math.sqrt(variance + epsilon) for value in x]


def _rms(x: list[float], epsilon: float) -> list[float]:
    return [value / math.sqrt(sum(other**2 for other in x) / len(x) + epsilon) for value in x]


def _scale(x: list[float], epsilon: float) -> list[float]:
    return [value / max(math.sqrt(sum(other**2 for other in x)), epsilon) for value in x]


def _minmax(x: list[float], epsilon: float) -> list[float]:
    return [(value - min(x)) / (max(x) - min(x) + epsilon) for value in x]


BY_POSITION: dict[str, Callable[[list[float], float], list[float]]] = {
    "layer": _layer,
    "rms": _rms,
    "scale": _scale,
    "minmax": _minmax,
    "none": lambda x, _: x,
}


def _batch(x: Tensor, keep: Tensor, epsilon: float) -> Tensor:
    """Each channel over the real tokens is what layer norm is to the channels of one token."""
    tokens = x[keep].tolist()
    columns = [_layer([token[channel] for token in tokens], epsilon) for channel in range(x.shape[-1])]
    expected = torch.zeros_like(x)
    expected[keep] = torch.tensor(columns, dtype=x.dtype).t()
    return expected


def _formula(kind: str, x: Tensor, keep: Tensor, epsilon: float) -> Tensor:
    if kind == "batch":
        return _batch(x, keep, epsilon)
    rows = [BY_POSITION[kind](row, epsilon) for row in x.flatten(0, -2).tolist()]
    return torch.tensor(rows, dtype=x.dtype).view_as(x)


def _made(norm: Norm) -> Norm:
    """With scales and shifts of its own, which a mistake in their place or shape would show."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in norm.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return norm


def _input(dtype: torch.dtype = torch.float64) -> Tensor:
    x = torch.randn(3, 4, WIDTH, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return (x * torch.tensor([0.01, 1, 3, 100]).view(1, 4, 1) + 0.5).to(dtype)


def test_there_is_one_class_and_one_formula_for_each_value_of_the_axis() -> None:
    axis = leaves()["model.norm"].axis
    assert axis is not None
    assert list(KINDS) == list(axis.choices)
    assert {*BY_POSITION, "batch"} == set(axis.choices)


@pytest.mark.parametrize("affine", [True, False], ids=["affine", "plain"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 7.0])
@pytest.mark.parametrize("kind", KINDS)
def test_each_norm_equals_its_formula(kind: str, epsilon: float, affine: bool) -> None:
    norm = _made(KINDS[kind](WIDTH, epsilon, affine).double())
    expected = _formula(kind, _input(), KEEP, epsilon)
    weight, bias = norm.weight, norm.bias
    assert (affine and kind != "none") == (weight is not None)
    assert (affine and kind in ("layer", "batch", "minmax")) == (bias is not None)
    if kind == "scale" and not affine:
        expected = expected * math.sqrt(WIDTH)
    expected = expected if weight is None else expected * weight
    expected = expected if bias is None else expected + bias
    torch.testing.assert_close(norm(_input(), KEEP)[KEEP], expected[KEEP], atol=1e-10, rtol=0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "batch"])
def test_a_norm_by_position_asks_for_no_mask_and_is_the_same_in_evaluation(kind: str) -> None:
    norm = _made(KINDS[kind](WIDTH, 1e-6))
    x = _input(torch.float32)
    assert torch.equal(norm(x, KEEP), norm(x, None))
    assert torch.equal(norm(x, KEEP), norm.eval()(x, None))


def _agree(ours: Norm, theirs: nn.Module, mine: Tensor, other: Tensor) -> None:
    """Outputs and gradients of the same weighted sum."""
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)
    weights = torch.randn(mine.shape, generator=torch.Generator().manual_seed(4))
    (mine * weights).sum().backward()
    (other * weights).sum().backward()
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(ours.get_parameter(name).grad, parameter.grad, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(("ours", "theirs"), [(LayerNorm, nn.LayerNorm), (RMSNorm, nn.RMSNorm)])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1])
def test_the_modules_of_pytorch_agree(ours: type[Norm], theirs: type[nn.Module], epsilon: float) -> None:
    norm, reference = _made(ours(WIDTH, epsilon)), theirs(WIDTH, eps=epsilon)
    reference.load_state_dict(norm.state_dict())
    x, y = _input(torch.float32).requires_grad_(), _input(torch.float32).requires_grad_()
    _agree(norm, reference, norm(x, KEEP), reference(y))
    torch.testing.assert_close(x.grad, y.grad, atol=1e-4, rtol=1e-5)


def test_scale_norm_agrees_with_normalize() -> None:
    norm = _made(ScaleNorm(WIDTH, 1e-6))
    assert norm.weight is not None
    x = _input(torch.float32)
    torch.testing.assert_close(norm(x), norm.weight * F.normalize(x, dim=-1, eps=1e-6), atol=1e-5, rtol=1e-5)


def test_batch_norm_agrees_with_batch_norm_1d_of_the_unpadded_tokens() -> None:
    """Through three batches, whose statistics it remembers, and in evaluation; gradients through the statistics too."""
    norm, reference = _made(BatchNorm(WIDTH, 1e-3)), nn.BatchNorm1d(WIDTH, eps=1e-3)
    reference.load_state_dict(norm.state_dict(), strict=False)
    for factor in (1.0, 2.0, -3.0):
        x = (factor * _input(torch.float32) + factor).requires_grad_()
        y = x.detach().clone().requires_grad_()
        _agree(norm, reference, norm(x, KEEP)[KEEP], reference(y[KEEP]))
        torch.testing.assert_close(x.grad, y.grad, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(norm.running_mean, reference.running_mean)
    torch.testing.assert_close(norm.running_var, reference.running_var)
    x = _input(torch.float32)
    torch.testing.assert_close(norm.eval()(x, None)[KEEP], reference.eval()(x[KEEP]), atol=1e-5, rtol=1e-5)
