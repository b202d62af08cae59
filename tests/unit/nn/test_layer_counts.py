"""Parameters and arithmetic in closed form, for every norm, placement and feed-forward kind."""

import itertools
from collections.abc import Iterator

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ablatable.config.model import Model
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.cost import training_flops
from ablatable.nn.count import parameter_count
from ablatable.nn.ffn import KINDS as FEED_FORWARDS
from ablatable.nn.norms import KINDS as NORMS
from ablatable.nn.residual import KINDS as PLACEMENTS


def _grid() -> Iterator[Model]:
    for placement, norm, affine, ffn in itertools.product(PLACEMENTS, NORMS, (True, False), ("relu", "none")):
        if norm != "none" or placement == "post":
            yield Model(
                layers=2, d_model=12, d_ff=20, heads=3, norm_placement=placement, norm=norm, norm_affine=affine, ffn=ffn
            )
    for ffn, d_ff in itertools.product(FEED_FORWARDS, (1, 2, 20)):
        yield Model(layers=2, d_model=12, d_ff=d_ff, heads=3, ffn=ffn)


GRID = list(_grid())


@pytest.mark.parametrize(
    "model", GRID, ids=[f"{m.norm_placement}-{m.norm}-{m.norm_affine}-{m.ffn}-{m.d_ff}" for m in GRID]
)
def test_the_closed_form_counts_the_built_layers(model: Model) -> None:
    built = build_model(model, 11, 11, seed=1)
    assert sum(parameter.numel() for parameter in built.parameters()) == parameter_count(model, 11, 11)


@pytest.mark.parametrize(
    ("placement", "body"),
    [
        ("post", 44_138_496),  # ARCH-07
        ("pre", 44_140_544),  # ARCH-07: one norm more for each stack
        ("sandwich", 44_171_264),  # and one more for each of 30 sub-layers
        ("rezero", 44_107_806),  # no norm, 30 gates
    ],
)
def test_arch_07_parameters_of_both_stacks(placement: str, body: int) -> None:
    assert parameter_count(Model(norm_placement=placement), 37000, 37000) == body + 18_944_000


def test_swiglu_has_the_parameters_of_relu() -> None:
    """170 more for each of 12 sub-layers of 2,099,712."""
    relu, swiglu = (parameter_count(Model(ffn=ffn), 37000, 37000) for ffn in ("relu", "swiglu"))
    assert Model(ffn="swiglu").ffn_width == 1365
    assert swiglu - relu == 12 * 170
    assert parameter_count(Model(ffn="conv1x1"), 37000, 37000) == relu


@pytest.mark.parametrize("ffn", FEED_FORWARDS)
def test_flops_equal_those_pytorch_counts_for_every_feed_forward(ffn: str) -> None:
    model = Model(layers=2, d_model=16, d_ff=40, heads=4, ffn=ffn)
    built = build_model(model, 30, 30, seed=1)
    for module in built.modules():
        if isinstance(module, AttentionCore):
            module.kernel = "sdpa"
    ids = torch.full((3, 10), 5)
    with (
        FlopCounterMode(display=False) as counter,
        torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    ):
        built(ids, ids).sum().backward()
    assert counter.get_total_flops() == training_flops(model, 30, 30, 30, mean_length=10)
