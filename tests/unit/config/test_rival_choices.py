"""The rivals' settings: what belongs to which architecture, what is impossible, what a null width means."""

from pathlib import Path

import pytest

from ablatable.config.dump import from_dict, to_dict
from ablatable.config.identity import run_id
from ablatable.config.layers import said
from ablatable.config.load import load_experiment
from ablatable.config.schema import Experiment
from ablatable.config.tree import Leaf, leaves
from ablatable.errors import InputError

SHARED = {
    "architecture", "layers", "d_model", "tying", "embedding_scale", "embedding_std", "dropout", "dropout_embedding",
    "rival_width",
}  # fmt: skip
OWN = {
    "rnn": {"rnn_cell", "rnn_attention"},
    "convolutional": {"kernel_size", "position", "position_combine", "position_layout", "position_base"},
    "bag": {"bag", "bag_window"},
}
MODEL = [leaf for path, leaf in leaves().items() if path.startswith("model.") and path != "model.architecture"]


def _value(leaf: Leaf) -> object:
    assert leaf.axis is not None
    return next(value for value in leaf.axis.values if value != leaf.default)


@pytest.mark.parametrize("architecture", OWN)
@pytest.mark.parametrize("leaf", MODEL, ids=lambda leaf: leaf.path)
def test_settings_of_other_architectures_are_refused(leaf: Leaf, architecture: str) -> None:
    """Every field of the model, whether its need is its own or inherited from another's."""
    words = [f"model.architecture={architecture}", f"{leaf.path}={said(_value(leaf))}"]
    if leaf.path.removeprefix("model.") in SHARED | OWN[architecture]:
        load_experiment("base", words)
        return
    with pytest.raises(InputError, match="does nothing, it needs"):
        load_experiment("base", words)


@pytest.mark.parametrize("name", sorted(SHARED - {"architecture", "layers", "d_model"} | set().union(*OWN.values())))
def test_a_default_said_aloud_is_no_other_run(name: str) -> None:
    leaf = leaves()[f"model.{name}"]
    for architecture in (a for a in OWN if name in SHARED | OWN[a]):
        plain = load_experiment("base", [f"model.architecture={architecture}"])
        spoken = load_experiment("base", [f"model.architecture={architecture}", f"{leaf.path}={said(leaf.default)}"])
        assert run_id(plain, "f") == run_id(spoken, "f")


RIVALS_ONLY = ("rival_width", "rnn_cell", "rnn_attention", "kernel_size", "bag", "bag_window")


@pytest.mark.parametrize("name", RIVALS_ONLY)
def test_rivals_settings_mean_nothing_to_the_transformer(name: str) -> None:
    with pytest.raises(InputError, match="does nothing, it needs"):
        load_experiment("base", [f"model.{name}={said(_value(leaves()[f'model.{name}']))}"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model.architecture=rnns"], "'transformer', 'rnn', 'convolutional' or 'bag'"),
        (["model.architecture=rnn", "model.rival_width=33"], "odd and the two directions"),
        (["model.architecture=rnn", "model.rnn_cell=elman"], "'lstm' or 'gru'"),
        (["model.architecture=rnn", "model.rnn_attention=dot"], "'additive' or 'none'"),
        (["model.architecture=convolutional", "model.kernel_size=4"], "even and has no middle; choose 3 or 5"),
        (["model.architecture=convolutional", "model.kernel_size=0"], "model.kernel_size=0 is not possible"),
        (["model.architecture=convolutional", "model.d_model=511"], "odd and model.position=sinusoidal"),
        (["model.architecture=convolutional", "model.position=rope"], "acts in self-attention"),
        (["model.architecture=convolutional", "model.position=alibi"], "acts in self-attention"),
        (["model.architecture=convolutional", "model.position=shaw"], "acts in self-attention"),
        (["model.architecture=convolutional", "model.position=t5"], "acts in self-attention"),
        (
            ["model.architecture=convolutional", "model.position=learned", "model.position_max=100"],
            "shorter than the longest training sentence",
        ),
        (["model.architecture=bag", "model.bag=sum"], "'average' or 'concatenate'"),
        (["model.architecture=bag", "model.bag_window=0"], "model.bag_window=0 is not possible"),
        (["model.architecture=bag", "model.rival_width=1"], "model.rival_width=1 is not possible"),
        (["model.architecture=bag", "tokenizer.sharing=separate"], "tokenizer.sharing=separate makes two"),
    ],
)
def test_impossible_rivals_say_why(words: list[str], expected: str) -> None:
    with pytest.raises(InputError, match="command line") as error:
        load_experiment("base", words)
    assert expected in str(error.value)


@pytest.mark.parametrize("architecture", OWN)
def test_odd_widths_without_sinusoids_are_possible(architecture: str) -> None:
    words = ["model.position=none"] if architecture == "convolutional" else []
    experiment = load_experiment("base", [f"model.architecture={architecture}", "model.d_model=511", *words])
    assert experiment.model.rival_size > 0


@pytest.mark.parametrize("architecture", OWN)
def test_a_matched_width_and_its_number_are_one_run(architecture: str) -> None:
    null = load_experiment(architecture)
    width = null.model.rival_size
    spelled = load_experiment(architecture, [f"model.rival_width={width}"])
    other = load_experiment(architecture, [f"model.rival_width={width + 2}"])
    assert run_id(null, "f") == run_id(spelled, "f") != run_id(other, "f")
    assert from_dict(to_dict(null)) == null
    assert "heads" not in to_dict(null)["model"]


def test_a_scale_multiplies_a_given_width_and_leaves_a_matched_one_to_be_matched() -> None:
    given = load_experiment("rnn", scale="cpu")
    assert given.model.rival_width is None
    assert (given.model.d_model, given.model.rival_size) == (128, 154)


@pytest.mark.parametrize(("factor", "expected"), [("1/4", 152), ("1/2", 304)])
def test_width_scales_the_inner_width(tmp_path: Path, factor: str, expected: int) -> None:
    scale = tmp_path / "narrow.yaml"
    scale.write_text(f"shrink:\n  width: {factor}\n", encoding="utf-8")
    experiment = tmp_path / "wide.yaml"
    experiment.write_text("extends: rnn\nmodel:\n  rival_width: 608\n", encoding="utf-8")
    assert load_experiment(str(experiment), scale=str(scale)).model.rival_size == expected


def test_the_base_is_untouched() -> None:
    assert load_experiment("base") == Experiment()
    assert "rival_width" not in to_dict(Experiment())["model"]
