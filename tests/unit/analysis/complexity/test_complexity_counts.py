"""Operations and dependent products are what a layer did, and have the exponents of Table 1 exactly."""

import math

import pytest
import torch
from torch import Tensor

from ablatable.analysis.complexity.counting import count
from ablatable.analysis.complexity.fit import exponent
from ablatable.analysis.complexity.layers import build
from ablatable.analysis.complexity.theory import LAYERS, block, operations

SIZES = [(64, 64, 3, 65), (128, 64, 3, 65), (64, 128, 5, 33), (96, 64, 2, 9), (32, 192, 3, 3)]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("n", "d", "kernel", "window"), SIZES)
def test_counts_equal_the_closed_form(layer: str, n: int, d: int, kernel: int, window: int) -> None:
    counted = count(build(layer, n, d, kernel, window).forward)
    assert counted == (operations(layer, n, d, kernel, window), LAYERS[layer].steps(n))


@pytest.mark.parametrize(
    ("layer", "n", "d"), [(name, *known.exponents) for name, known in LAYERS.items() if known.exponents]
)
def test_counted_exponents_are_those_of_the_paper(layer: str, n: int, d: int) -> None:
    """Over a factor of eight; the recurrent layer is quadratic in d, attention in n, a window in neither."""
    lengths, widths = (32, 64, 128, 192, 256), (64, 128, 192, 256, 512)
    along_n = [float(count(build(layer, length, 64, 3, 65).forward)[0]) for length in lengths]
    along_d = [float(count(build(layer, 32, width, 3, 65).forward)[0]) for width in widths]
    for sizes, counts, theory in ((lengths, along_n, n), (widths, along_d, d)):
        found = exponent(sizes, counts)
        assert found is not None
        assert found.straight.estimate == pytest.approx(theory, abs=1e-9)


def test_a_kernel_and_a_window_count_once() -> None:
    """k in the convolution and r in the window: twice as many places cost twice as much."""
    for layer in ("convolutional", "dilated"):
        narrow, wide = (count(build(layer, 64, 64, kernel, 65).forward)[0] for kernel in (3, 6))
        assert wide == 2 * narrow
    narrow, wide = (count(build("restricted", 256, 64, 3, window).forward)[0] for window in (33, 65))
    assert wide == pytest.approx(2 * narrow, rel=0.05)  # a block of b queries reads r + b - 1 keys, and b grows with r


@pytest.mark.parametrize(("window", "queries"), [(3, 1), (5, 2), (9, 4), (33, 16), (65, 32), (101, 32), (1025, 64)])
def test_blocks_are_powers_of_two_within_the_reach(window: int, queries: int) -> None:
    assert block(window) == queries


def test_the_chain_is_the_longest_and_not_the_number() -> None:
    """Side by side adds nothing; what lies between counts nothing; views, writes in place and out= are followed."""
    x = torch.randn(4, 4)

    def beside() -> Tensor:
        return x @ x + x @ x

    def chained() -> Tensor:
        y = (x @ x).relu()
        y.view(-1)[0] = 1.0
        y = y.t()
        z = torch.empty(4, 4)
        torch.mm(y, x, out=z)
        return torch.stack((x @ x, z @ x))

    assert count(beside) == (2 * 2 * 4**3, 1)
    assert count(chained) == (4 * 2 * 4**3, 3)


def test_counting_leaves_onednn_as_it_was() -> None:
    before = torch.backends.mkldnn.enabled
    count(build("recurrent", 4, 64, 3, 65).forward)
    assert torch.backends.mkldnn.enabled == before


def test_a_layer_that_did_something_else_is_noticed() -> None:
    """The window by a mask costs what full attention costs, whatever Table 1 says of windows."""
    masked, full, banded = (
        count(build(layer, 512, 64, 3, 65).forward)[0]
        for layer in ("restricted-masked", "self-attention", "restricted")
    )
    assert masked == full
    assert math.isclose(full / banded, 512 / 96)
