"""Closed forms of the rivals: parameters, operations, matched widths, initial values."""

import itertools
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ablatable.config.model import Model
from ablatable.config.model.matching import nearest_width, transformer_body
from ablatable.config.tree import leaves
from ablatable.nn.build import KINDS as ARCHITECTURES
from ablatable.nn.build import build_model
from ablatable.nn.build.bag import WINDOWS
from ablatable.nn.build.recurrent import ATTENTION
from ablatable.nn.cells import KINDS as CELLS
from ablatable.nn.cost import training_flops
from ablatable.nn.count import parameter_count

RECURRENT = [
    {"architecture": "rnn", "rnn_cell": cell, "rnn_attention": attention}
    for cell, attention in itertools.product(("lstm", "gru"), ("additive", "none"))
]
CONVOLUTIONAL = [{"architecture": "convolutional", "kernel_size": kernel} for kernel in (1, 3, 7)]
BAGS = [{"architecture": "bag", "bag": bag, "bag_window": window} for bag in WINDOWS for window in (1, 5)]
KINDS = [*RECURRENT, *CONVOLUTIONAL, *BAGS]
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration:UserWarning")


def _id(changes: dict[str, object]) -> str:
    return "-".join(str(value) for value in changes.values())


@pytest.mark.parametrize(
    ("classes", "field"),
    [(ARCHITECTURES, "architecture"), (CELLS, "rnn_cell"), (ATTENTION, "rnn_attention"), (WINDOWS, "bag")],
)
def test_every_choice_has_its_class(classes: dict[str, object], field: str) -> None:
    axis = leaves()[f"model.{field}"].axis
    assert axis is not None
    assert list(axis.choices) == list(classes)


def test_arch_07_the_body_to_be_matched_is_the_paper_s() -> None:
    assert transformer_body(6, 512) == 44138496
    for layers, d_model in ((6, 512), (1, 64), (3, 100)):
        paper = Model(layers=layers, d_model=d_model, d_ff=4 * d_model, heads=1)
        assert transformer_body(layers, d_model) == parameter_count(paper, 11, 11) - 11 * d_model


@pytest.mark.parametrize("changes", KINDS, ids=_id)
def test_matched_counts_lie_within_two_percent(changes: dict[str, object]) -> None:
    for layers, d_model in ((6, 512), (3, 128), (2, 128), (1, 128), (6, 1024), (8, 512), (4, 256)):
        model = Model(layers=layers, d_model=d_model, d_ff=7, **changes)
        target = transformer_body(layers, d_model)
        assert parameter_count(model, 37, 37) - 37 * d_model == model.rival_body  # sinusoids have no parameters
        assert model.rival_body == pytest.approx(target, rel=0.02)


@pytest.mark.parametrize("changes", KINDS, ids=_id)
def test_no_other_width_is_nearer(changes: dict[str, object]) -> None:
    model = Model(layers=2, d_model=32, **changes)
    target, step = transformer_body(2, 32), 2 if model.architecture == "rnn" else 1
    error = abs(model.rival_body - target)
    for width in (model.rival_size - step, model.rival_size + step):
        assert abs(replace(model, rival_width=width).rival_body - target) >= error


def test_the_nearest_width_by_hand() -> None:
    assert nearest_width(26, lambda width: width**2, 1) == 5
    assert nearest_width(31, lambda width: width**2, 1) == 6
    assert nearest_width(31, lambda width: width**2, 4) == 4
    assert nearest_width(0, lambda width: width**2, 2) == 2
    assert nearest_width(10, lambda width: 4 * width, 1) == 2  # 8 and 12 are as near: the smaller


@pytest.mark.parametrize("tying", ["three-way", "decoder", "source-target", "none"])
@pytest.mark.parametrize("changes", KINDS, ids=_id)
def test_the_closed_form_counts_the_built_model(changes: dict[str, object], tying: str) -> None:
    vocabularies = (11, 11) if tying in ("three-way", "source-target") else (11, 14)
    for layers in (1, 3):
        model = Model(layers=layers, d_model=12, rival_width=10, tying=tying, **changes)
        built = build_model(model, *vocabularies, seed=1)
        assert sum(parameter.numel() for parameter in built.parameters()) == parameter_count(model, *vocabularies)


@pytest.mark.parametrize(
    "positions",
    [
        {"position": "learned", "position_max": 12},
        {"position": "none"},
        {"position": "index"},
        {"position": "sinusoidal", "position_combine": "concatenate"},
        {"position": "index", "position_combine": "concatenate"},
    ],
    ids=_id,
)
def test_positions_of_the_convolutional_model_count(positions: dict[str, object]) -> None:
    model = Model(architecture="convolutional", layers=2, d_model=12, rival_width=10, **positions)
    built = build_model(model, 11, 11, seed=1)
    assert sum(parameter.numel() for parameter in built.parameters()) == parameter_count(model, 11, 11)
    assert _counted(model) == training_flops(model, 30, 30, 30, mean_length=10)


def _counted(model: Model) -> int:
    built = build_model(model, 30, 30, seed=1)
    ids = torch.full((3, 10), 5)
    # oneDNN's fused recurrence hides its products from the counter.
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        built(ids, ids).sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("changes", KINDS, ids=_id)
def test_flops_equal_those_pytorch_counts(changes: dict[str, object], layers: int) -> None:
    model = Model(layers=layers, d_model=16, rival_width=12, **changes)
    # An encoder cell starts from zeros, which take no gradient: one of its first step's three products is not made.
    unmade = 3 * layers * 2 * (2 * model.rnn_gates * 6 * 6) if model.architecture == "rnn" else 0
    # The product of the hidden layer with its vector, forward and backward, is no matrix product to the counter.
    unseen = 3 * 2 * 30 * 10 * 12 if model.architecture == "rnn" and model.rnn_attention == "additive" else 0
    assert _counted(model) + unmade + unseen == training_flops(model, 30, 30, 30, mean_length=10)


def test_counting_and_matching_need_no_torch() -> None:
    code = (
        "import sys; from ablatable.config.model import Model; from ablatable.nn.count import parameter_count; "
        "from ablatable.nn.cost import training_flops; model = Model(architecture='rnn'); "
        "parameter_count(model, 9, 9); training_flops(model, 9, 9, 9); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_initial_values_of_cells() -> None:
    """Glorot gate by gate; the forget gate's biases are 1 in sum, all others 0."""
    lstm = build_model(Model(architecture="rnn", layers=1, d_model=96, rival_width=64), 9, 9, seed=1)
    cell = lstm.get_submodule("decoder.cells.0")
    for weight in (cell.weight_ih_l0, cell.weight_hh_l0):
        bound = (6.0 / (weight.shape[1] + 64)) ** 0.5
        for gate in weight.chunk(4):
            assert 0.98 * bound < gate.abs().max() <= bound
    bias = cell.bias_ih_l0 + cell.bias_hh_l0
    assert bias.tolist() == [0.0] * 64 + [1.0] * 64 + [0.0] * 128
    gru = build_model(Model(architecture="rnn", rnn_cell="gru", layers=1, d_model=96, rival_width=64), 9, 9, seed=1)
    assert all(not p.any() for name, p in gru.named_parameters() if ".bias_" in name)


def test_initial_values_of_gated_convolutions() -> None:
    """Gehring et al. 2017, section 3.5: N(0, 4 / inputs) before a GLU, whatever the dropout."""
    model = Model(architecture="convolutional", layers=1, d_model=96, rival_width=64, dropout=0.5)
    convolution = build_model(model, 9, 9, seed=1).get_submodule("encoder.convolutions.0")
    assert convolution.weight.std().item() == pytest.approx((4 / (3 * 64)) ** 0.5, rel=0.02)
    assert not convolution.bias.any()


@pytest.mark.parametrize("changes", KINDS, ids=_id)
def test_initial_values_depend_on_seed_and_name_alone(changes: dict[str, object]) -> None:
    model = Model(layers=2, d_model=12, rival_width=10, **changes)
    state = torch.random.get_rng_state()
    first = build_model(model, 11, 11, seed=1).state_dict()
    assert torch.equal(state, torch.random.get_rng_state())
    again = build_model(replace(model, dropout=0.5), 11, 11, seed=1).state_dict()
    other = build_model(model, 11, 11, seed=2).state_dict()
    assert all(torch.equal(value, again[name]) for name, value in first.items())
    assert not all(torch.equal(value, other[name]) for name, value in first.items())
    base = build_model(Model(layers=1, d_model=12, heads=2, d_ff=9), 11, 11, seed=1).state_dict()
    assert torch.equal(first["source_input.embedding.weight"], base["source_input.embedding.weight"])
