"""The step made of a gradient: Adam's constants, penalties, decay, clipping."""

import pytest
import torch
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.config.training import Training
from ablatable.nn.build import build_model
from ablatable.training.optimiser import finish_gradient, is_matrix, make_optimizer


def tied() -> nn.Module:
    """A matrix under two names, its bias, a norm."""
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    return model


def gradients(model: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}


def data_loss(model: nn.Module) -> Tensor:
    x = torch.arange(12.0).view(3, 4) / 7 - 0.5
    return model(x).square().mean()


def test_opt_08_the_papers_adam() -> None:
    weight = nn.Parameter(torch.ones(1))
    optimizer = make_optimizer(nn.ParameterList([weight]), Training(), 0.1)
    assert type(optimizer) is torch.optim.Adam
    (group,) = optimizer.param_groups
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.98), 1e-9, 0.0)
    weight.grad = torch.tensor([3e-4])
    optimizer.step()
    assert weight.item() == pytest.approx(0.9000003, abs=1e-7)


@pytest.mark.parametrize(("l1", "l2"), [(1e-3, 0.0), (0.0, 1e-2), (1e-3, 1e-2)])
def test_penalties_have_the_gradient_of_their_formula(l1: float, l2: float) -> None:
    """Autograd of ``loss + l1 sum |w| + l2/2 sum w^2`` over the matrices, the shared one counted once, 0 included."""
    torch.manual_seed(1)
    model = tied()
    with torch.no_grad():
        next(model.parameters())[0, 0] = 0.0
    matrices = [parameter for parameter in model.parameters() if parameter.ndim == 2]
    assert len(matrices) == 1
    formula = sum((l1 * w.abs().sum() + l2 / 2 * w.square().sum() for w in matrices), data_loss(model))
    formula.backward()
    expected = gradients(model)
    model.zero_grad()
    data_loss(model).backward()
    finish_gradient(model, Training(l1=l1, l2=l2))
    for name, gradient in gradients(model).items():
        torch.testing.assert_close(gradient, expected[name], rtol=0, atol=1e-7)


def test_penalties_reach_a_matrix_that_the_data_does_not() -> None:
    model = nn.Linear(2, 2)
    finish_gradient(model, Training(l2=0.5))
    assert model.weight.grad is not None
    torch.testing.assert_close(model.weight.grad, 0.5 * model.weight.detach())
    assert model.bias.grad is None


def test_matrices_of_the_model_are_its_projections_and_tables() -> None:
    model = build_model(Model(layers=1, d_model=8, d_ff=16, heads=2), 12, 12, 1)
    vectors = [name for name, parameter in model.named_parameters() if not is_matrix(parameter)]
    assert vectors
    assert all(name.endswith("bias") or "norm" in name for name in vectors), vectors


def test_weight_decay_is_beside_adam_and_only_on_matrices() -> None:
    """Loshchilov & Hutter 2019: the same step as without, and ``rate * decay * w`` less of every matrix."""
    moved: list[dict[str, Tensor]] = []
    for decay in (0.0, 0.1):
        torch.manual_seed(2)
        model = tied()
        before = {name: value.clone() for name, value in model.state_dict().items()}
        optimizer = make_optimizer(model, Training(weight_decay=decay), 0.01)
        data_loss(model).backward()
        optimizer.step()
        moved.append({name: value - before[name] for name, value in model.state_dict().items()})
    for name, value in before.items():
        shrunk = 0.01 * 0.1 * value if value.ndim == 2 else torch.zeros_like(value)
        torch.testing.assert_close(moved[1][name], moved[0][name] - shrunk, rtol=0, atol=1e-7)


def test_a_rate_set_for_all_groups_reaches_both() -> None:
    optimizer = make_optimizer(tied(), Training(weight_decay=0.1), 0.01)
    assert [len(group["params"]) for group in optimizer.param_groups] == [1, 4]
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.1, 0.0]


def test_opt_07_the_sum_is_clipped_and_not_its_parts() -> None:
    """Micro-gradients [3, 0] and [-3, .4]: their sum is short. Clipped each, it would be [0.00877202, 0.13216373]."""
    weight = nn.Parameter(torch.zeros(2))
    model = nn.ParameterList([weight])
    for part in ([3.0, 0.0], [-3.0, 0.4]):
        (weight * torch.tensor(part)).sum().backward()
    finish_gradient(model, Training(clip_norm=1.0))
    assert weight.grad is not None
    assert weight.grad.tolist() == pytest.approx([0.0, 0.4], abs=1e-7)


def test_clipping_is_over_all_parameters_and_after_the_penalties() -> None:
    torch.manual_seed(3)
    model = nn.Linear(3, 3)
    model.weight.grad, model.bias.grad = torch.full((3, 3), 2.0), torch.full((3,), 1.0)
    total = model.weight.grad + 0.5 * model.weight.detach()
    finish_gradient(model, Training(clip_norm=0.25, l2=0.5))
    length = torch.cat([total.flatten(), torch.ones(3)]).norm()
    torch.testing.assert_close(model.weight.grad, total * 0.25 / length, rtol=1e-5, atol=0)
    torch.testing.assert_close(model.bias.grad, torch.ones(3) * 0.25 / length, rtol=1e-5, atol=0)


def test_nothing_is_done_by_default() -> None:
    model = tied()
    data_loss(model).backward()
    before = gradients(model)
    finish_gradient(model, Training())
    assert all(gradient.equal(before[name]) for name, gradient in gradients(model).items())
