"""Layers that Table 1 is measured with and the models have not: each equals a slow reference."""

import math

import pytest
import torch

from ablatable.analysis.complexity.banded import BandedCore
from ablatable.analysis.complexity.layers import causal, centred, self_attention
from ablatable.nn.attention import AttentionCore, SelfAttention
from ablatable.nn.init import initialise
from ablatable.nn.masks import EVERYTHING, within
from ablatable.nn.scores import ProductScore


@pytest.mark.parametrize(
    ("n", "window"), [(1, 3), (2, 3), (7, 3), (8, 5), (13, 9), (64, 33), (65, 33), (20, 65), (130, 65)]
)
def test_a_banded_core_equals_a_masked_one_with_gradients(n: int, window: int) -> None:
    """Lengths that no block divides, and windows wider than the sequence, among them."""
    mask = within(torch.ones(2, n, dtype=torch.bool), causal=False, window=window)
    leaves = [torch.randn(2, n, 3, width, dtype=torch.float64, requires_grad=True) for width in (4, 4, 6)]
    weigh = torch.randn(2, n, 3, 6, dtype=torch.float64)
    found = BandedCore(window, 0.5)(*leaves, EVERYTHING, None, 0)
    expected = AttentionCore(ProductScore(0.5))(*leaves, mask)
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad((out * weigh).sum(), leaves) for out in (found, expected))
    for one, other in zip(ours, theirs, strict=True):
        assert bool(one.isfinite().all())
        torch.testing.assert_close(one, other)


def test_a_banded_layer_equals_the_models_windowed_layer() -> None:
    ours = self_attention(128, 2, 9)
    theirs = SelfAttention(128, 2, 64, 64, False, AttentionCore(ProductScore(1 / math.sqrt(64))), window=9)
    for layer in (ours, theirs):
        initialise(layer, 3)
    x = torch.randn(2, 21, 128)
    mask = within(torch.ones(2, 21, dtype=torch.bool), causal=False, window=9)
    torch.testing.assert_close(ours(x, EVERYTHING), theirs(x, mask), atol=1e-5, rtol=1e-5)


def test_a_banded_core_refuses_what_it_does_not_compute() -> None:
    q = torch.randn(1, 8, 1, 4)
    mask = within(torch.ones(1, 8, dtype=torch.bool), causal=True)
    with pytest.raises(ValueError, match="no mask, relative position or offset"):
        BandedCore(5, 1.0)(q, q, q, mask, None, 0)
    with pytest.raises(ValueError, match="no mask, relative position or offset"):
        BandedCore(5, 1.0)(q, q, q, EVERYTHING, None, 3)


@pytest.mark.parametrize(
    ("n", "kernel", "dilation"), [(7, 3, 1), (7, 3, 3), (8, 2, 4), (5, 3, 9), (1, 5, 2), (16, 4, 4)]
)
def test_a_dilated_convolution_equals_its_loop(n: int, kernel: int, dilation: int) -> None:
    """Output t is the gated sum over places t, t - dilation, ...; the last columns of the weight belong to t."""
    layer = causal(4, kernel, dilation)
    initialise(layer, 2)
    layer.double()
    x = torch.randn(2, n, 4, dtype=torch.float64)
    weight = layer.get_parameter("convolution.weight").view(8, kernel, 4)
    for t in range(n):
        summed = torch.zeros(2, 8, dtype=torch.float64)
        for place in range(kernel):
            source = t - (kernel - 1 - place) * dilation
            if source >= 0:
                summed += x[:, source] @ weight[:, place].T
        expected = summed[:, :4] * summed[:, 4:].sigmoid()
        torch.testing.assert_close(layer(x)[:, t], expected)


def test_a_centred_convolution_sees_both_sides() -> None:
    layer = centred(4, 5)
    initialise(layer, 2)
    x = torch.randn(1, 9, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer(x)[0, 4].sum(), x)
    assert gradient[0].any(dim=-1).tolist() == [False, False, True, True, True, True, True, False, False]
