"""Entropy, positions attended to, and gradient through softmax, against their definitions."""

import math

import pytest
import torch

from ablatable.analysis.softmax import MEASURES, effective, entropy, gradient, largest


@pytest.mark.parametrize("n", [2, 3, 10])
def test_even_weights(n: int) -> None:
    weights = torch.full((n,), 1 / n, dtype=torch.float64)
    assert float(entropy(weights)) == pytest.approx(math.log(n))
    assert float(effective(weights)) == pytest.approx(n)
    assert float(largest(weights)) == pytest.approx(1 / n)
    assert float(gradient(weights)) == pytest.approx(math.sqrt(1 / n - 1 / n**2))


def test_a_single_weight_lets_no_gradient_through() -> None:
    weights = torch.tensor([0.0, 1.0, 0.0])
    assert [float(of(weights)) for of in MEASURES.values()] == [0.0, 1.0, 1.0, 0.0]


def test_the_gradient_is_the_jacobians_norm_by_autograd() -> None:
    scores = torch.randn(5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 2
    for row in scores:
        jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), row)
        assert float(gradient(torch.softmax(row, -1))) == pytest.approx(float(jacobian.norm()), abs=1e-12)


def test_it_is_what_a_random_gradient_keeps_of_its_length() -> None:
    """Root mean square over gradients of the weights with mean 0 and variance 1."""
    random = torch.Generator().manual_seed(2)
    scores = torch.randn(6, dtype=torch.float64, generator=random).requires_grad_()
    weights = torch.softmax(scores, -1)
    squares = []
    for _ in range(4000):
        upstream = torch.randn(6, dtype=torch.float64, generator=random)
        (reached,) = torch.autograd.grad(weights, scores, upstream, retain_graph=True)
        squares.append(float(reached.square().sum()))
    assert math.sqrt(sum(squares) / len(squares)) == pytest.approx(float(gradient(weights.detach())), rel=0.05)


def test_no_weights_let_more_through_than_two_even_ones() -> None:
    weights = torch.softmax(
        3 * torch.randn(1000, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1)), -1
    )
    assert float(gradient(weights).max()) <= 0.5
    assert float(gradient(torch.tensor([0.5, 0.5, 0.0]))) == pytest.approx(0.5)
