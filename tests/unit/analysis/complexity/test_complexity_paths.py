"""Maximum path lengths, measured from gradients, equal each layer's closed form."""

import math

import pytest
import torch

from ablatable.analysis.complexity.layers import self_attention
from ablatable.analysis.complexity.paths import measure
from ablatable.analysis.complexity.theory import HEAD, PATHS, path_length
from ablatable.nn.attention import AttentionCore, SelfAttention
from ablatable.nn.init import initialise
from ablatable.nn.masks import within
from ablatable.nn.scores import ProductScore

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 25, 27, 28, 33)
SIZES = {
    "self-attention": (0,),
    "recurrent": (0,),
    "convolutional": (2, 3, 4, 5, 7),
    "convolutional-centred": (3, 5, 7),
    "dilated": (2, 3, 4, 5),
    "restricted": (3, 5, 7, 9, 33),
}


@pytest.mark.parametrize(("kind", "size"), [(kind, size) for kind in PATHS for size in SIZES[kind]])
def test_measured_equals_the_closed_form(kind: str, size: int) -> None:
    assert [measure(kind, n, size) for n in LENGTHS] == [path_length(kind, n, size) for n in LENGTHS]


def test_closed_forms_by_hand() -> None:
    """From section 4 and Table 1, at sizes where rounding up matters."""
    assert path_length("self-attention", 1000, 0) == 1
    assert path_length("recurrent", 1000, 0) == 999
    assert [path_length("convolutional", n, 3) for n in (3, 4, 5, 6, 1000)] == [1, 2, 2, 3, 500]
    assert [path_length("convolutional-centred", n, 3) for n in (2, 3, 1000)] == [1, 2, 999]
    assert [path_length("dilated", n, 3) for n in (2, 3, 4, 9, 10, 27, 28, 729, 730)] == [1, 1, 2, 2, 3, 3, 4, 6, 7]
    assert [path_length("restricted", n, 9) for n in (5, 6, 9, 10, 1000)] == [1, 2, 2, 3, 250]
    assert path_length("dilated", 1000, 10) == math.ceil(math.log10(1000))


@pytest.mark.parametrize(("n", "window"), [(9, 5), (10, 5), (17, 9), (18, 9), (7, 3)])
def test_a_masked_window_has_the_path_of_a_banded_one(n: int, window: int) -> None:
    """As the models compute it: their own attention under their own mask."""
    mask = within(torch.ones(1, n, dtype=torch.bool), causal=False, window=window)
    x = y = torch.randn(1, n, 8, dtype=torch.float64, requires_grad=True)
    for depth in range(1, n + 1):
        attention = SelfAttention(8, 2, 4, 4, False, AttentionCore(ProductScore(0.5)))
        initialise(attention, depth)
        y = attention.double()(y, mask)
        (gradient,) = torch.autograd.grad(y[0, -1].sum(), x, retain_graph=True)
        if bool(gradient[0, 0].any()):
            assert depth == path_length("restricted", n, window)
            return
    raise AssertionError("no influence")


def test_a_window_that_is_too_wide_is_noticed() -> None:
    """The test above can fail: r = 5 is not r = 3."""
    assert measure("restricted", 17, 5) != path_length("restricted", 17, 3)


def test_the_recurrent_path_is_the_cell_s_own() -> None:
    """Handing all states on n - 1 times gives what the cell gives when it reads the sequence."""
    from ablatable.analysis.complexity.paths import _steps  # pyright: ignore[reportPrivateUsage] (what is measured)
    from ablatable.nn.cells import Lstm, recur

    x = torch.randn(1, 6, 8, dtype=torch.float64)
    stepped = _steps(x)
    for _ in range(6):
        states = next(stepped)
    cell = Lstm(8, 8)
    initialise(cell, seed=1)
    torch.testing.assert_close(states, recur(cell.double(), x)[0])


def test_the_models_heads() -> None:
    assert self_attention(512, 8, None).widths == (8 * HEAD,) * 3
