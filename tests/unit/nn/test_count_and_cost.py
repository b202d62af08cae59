"""Closed forms: the paper's parameter column, and floating-point operations."""

import itertools
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ablatable.config.model import Model
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.cost import training_flops
from ablatable.nn.count import parameter_count

BIG = Model(d_model=1024, d_ff=4096, heads=16, dropout=0.3)
ROWS = {
    "base": (Model(), 63082496, 65126400),
    "d_k=16": (Model(d_k=16), 55990784, 58034688),
    "d_k=32": (Model(d_k=32), 58354688, 60398592),
    "N=2": (Model(layers=2), 33656832, 35700736),
    "N=4": (Model(layers=4), 48369664, 50413568),
    "N=8": (Model(layers=8), 77795328, 79839232),
    "d_model=256": (Model(d_model=256), 26834944, 27856896),
    "d_model=1024": (Model(d_model=1024), 163889152, 167976960),
    "d_ff=1024": (Model(d_ff=1024), 50487296, 52531200),
    "d_ff=4096": (Model(d_ff=4096), 88272896, 90316800),
    "big": (BIG, 214245376, 218333184),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_parameter_column_under_both_conventions(row: str) -> None:
    model, paper, first_public_code = ROWS[row]
    assert parameter_count(model, 37000, 37000) == paper
    assert parameter_count(replace(model, target_language_table=True), 40960, 40960) == first_public_code


GRID = [
    Model(
        layers=2, d_model=12, d_ff=20, heads=3, d_k=d_k, d_v=d_v, tying=tying, position=position,
        position_max=9, attention_bias=bias, target_language_table=bias,
    )
    for (d_k, d_v), tying, position, bias in itertools.product(
        ((None, None), (2, 7)),
        ("three-way", "decoder", "source-target", "none"),
        ("sinusoidal", "learned", "none"),
        (True, False),
    )
]  # fmt: skip


@pytest.mark.parametrize("model", GRID, ids=lambda m: f"{m.d_k}-{m.tying}-{m.position}-{m.attention_bias}")
def test_the_closed_form_counts_the_built_model(model: Model) -> None:
    vocabularies = (11, 11) if model.tying in ("three-way", "source-target") else (11, 14)
    built = build_model(model, *vocabularies, seed=1)
    assert sum(parameter.numel() for parameter in built.parameters()) == parameter_count(model, *vocabularies)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"d_k": 3, "d_v": 7},
        {"cross_attention": False},
        {"score": "cosine", "window": 3},
        {"score_scale": "learned", "causal": False},
        {"position": "shaw"},
        {"position": "t5"},
    ],
    ids=str,
)
def test_flops_equal_those_pytorch_counts(changes: dict[str, object]) -> None:
    model = replace(Model(layers=2, d_model=16, d_ff=40, heads=4), **changes)
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
    # The last step of the backward pass, to the embeddings, is no matrix product; all else is counted.
    assert counter.get_total_flops() == training_flops(model, 30, 30, 30, mean_length=10)


def test_the_paper_s_base_run_is_of_the_order_it_states() -> None:
    """Table 2: 3.3e18, estimated as time x sustained throughput; 100,000 steps of 25,000 + 25,000 tokens."""
    assert 0.5e18 < training_flops(Model(), 37000, 2.5e9, 2.5e9) < 3.3e18


def test_counting_needs_no_torch() -> None:
    code = "import sys, ablatable.nn, ablatable.nn.count, ablatable.nn.cost; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
