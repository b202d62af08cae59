"""Parameters and floating-point operations of each kind of position, in closed form."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.cost import training_flops
from ablatable.nn.count import parameter_count

SMALL = Model(
    layers=2, d_model=16, d_ff=24, heads=4, d_k=6, d_v=3, position_max=40,
    position_clip=3, position_buckets=8, position_distance=6,
)  # fmt: skip
CASES = [
    ({"position": "sinusoidal"}, 0),
    ({"position": "sinusoidal", "position_combine": "concatenate"}, 2 * 16 * 32),
    ({"position": "learned"}, 2 * 40 * 16),
    ({"position": "learned", "position_combine": "concatenate"}, 2 * (40 * 16 + 16 * 32)),
    ({"position": "index"}, 2 * 16),
    ({"position": "index", "position_combine": "concatenate"}, 2 * 16 * 17),
    ({"position": "rope"}, 0),
    ({"position": "alibi"}, 0),
    ({"position": "alibi", "position_slopes": "learned"}, 2 * 4),
    ({"position": "shaw"}, 2 * 2 * 7 * (6 + 3)),
    ({"position": "t5"}, 2 * 8 * 4),
]
each_case = pytest.mark.parametrize(
    ("changes", "added"), CASES, ids=lambda c: "-".join(c.values()) if isinstance(c, dict) else ""
)


@each_case
def test_the_closed_form_counts_the_built_model(changes: dict[str, str], added: int) -> None:
    without = parameter_count(replace(SMALL, position="none"), 11, 11)
    for cross_attention in (True, False):
        model = replace(SMALL, **changes, cross_attention=cross_attention)
        built = build_model(model, 11, 11, seed=1)
        assert sum(parameter.numel() for parameter in built.parameters()) == parameter_count(model, 11, 11)
    assert parameter_count(replace(SMALL, **changes), 11, 11) == without + added


@each_case
def test_flops_equal_those_pytorch_counts(changes: dict[str, str], added: int) -> None:
    model = replace(SMALL, **changes)
    built = build_model(model, 30, 30, seed=1)
    for module in built.modules():
        if hasattr(module, "kernel"):
            module.kernel = "sdpa"
    ids = torch.full((3, 10), 5)
    with (
        FlopCounterMode(display=False) as counter,
        torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    ):
        built(ids, ids).sum().backward()
    assert counter.get_total_flops() == training_flops(model, 30, 30, 30, mean_length=10)
