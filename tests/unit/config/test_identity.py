"""What is and what is not the same run."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ablatable.config.dump import from_dict, to_dict, to_yaml
from ablatable.config.identity import meaning, run_id, training_id
from ablatable.config.layers import Setting, build
from ablatable.config.load import load_experiment
from ablatable.config.schema import OPERATIONAL_SECTIONS, Experiment
from ablatable.config.tree import leaves, selecting, value_at
from ablatable.config.yaml_file import parse_scalar


def test_the_papers_base_says_nothing() -> None:
    assert meaning(Experiment()) == {}
    canonical = json.dumps(
        {"version": 1, "seed": 1, "corpus": "abc", "settings": {}}, sort_keys=True, separators=(",", ":")
    )
    assert run_id(Experiment(), "abc") == hashlib.sha256(canonical.encode()).hexdigest()[:16]


def test_a_derived_width_and_the_same_number_are_one_meaning() -> None:
    derived = load_experiment("base", ["model.heads=4"])
    spelled = load_experiment("base", ["model.heads=4", "model.d_k=128", "model.d_v=128"])
    assert run_id(derived, "c") == run_id(spelled, "c")
    assert run_id(derived, "c") != run_id(load_experiment("base", ["model.heads=4", "model.d_k=64"]), "c")


def test_one_training_serves_searches_and_checkpoints_but_for_the_running_average() -> None:
    """A training keeps the average of every update only where it is asked for; one of another decay is another."""
    base, *others = (
        training_id(load_experiment("base", words), "c")
        for words in (
            [],
            ["decode.beam=1"],
            ["train.average_last=5"],
            ["evaluate.checkpoint=best"],
            ["evaluate.checkpoint=ema"],
            ["evaluate.checkpoint=ema", "train.ema_decay=0.99"],
            ["evaluate.checkpoint=ema", "decode.beam=1"],
        )
    )
    assert others[:3] == [base] * 3
    assert len({base, *others[3:5]}) == 3
    assert others[5] == others[3]


def test_seed_and_corpus_are_part_of_it() -> None:
    base = Experiment()
    ids = {
        run_id(base, "a"),
        run_id(base, "b"),
        run_id(base, None),
        run_id(load_experiment("base", ["seed=2"]), "a"),
    }
    assert len(ids) == 4


def test_how_to_run_is_not() -> None:
    words = [
        "runtime.devices=4",
        "runtime.threads=2",
        "tracking.wandb=off",
        "tracking.project=mine",
        "runtime.micro_batches=3",
    ]
    assert run_id(load_experiment("base", words), "c") == run_id(Experiment(), "c")


def test_a_switched_off_default_adds_nothing() -> None:
    learned = load_experiment("base", ["model.position=learned"])
    assert meaning(learned) == {"model.position": "learned"}


@pytest.mark.parametrize(
    "path", [path for path, known in leaves().items() if known.axis is not None and known.axis.values]
)
def test_every_choice_changes_the_identity(path: str) -> None:
    """Generated from the axes: a value other than the default is another run."""
    known = leaves()[path]
    assert known.axis is not None
    for value in known.axis.values:
        selected = {said_path: Setting(said, "test") for said_path, said in selecting(path, value).items()}
        experiment = build([selected])
        same = value == known.default or (path in ("model.d_k", "model.d_v") and value == 64)
        without = build([selected, {path: Setting(known.default, "test")}])
        assert (run_id(experiment, "c") == run_id(without, "c")) == same


@pytest.mark.parametrize(
    "words",
    [
        ["model.dropout_embedding=0.1"],
        ["model.dropout=0.3", "model.dropout_embedding=0.3"],
        ["model.d_model=256", "model.embedding_std=0.0625"],
        ["model.d_k=64", "model.d_v=64"],
        ["model.d_model=256", "train.warmup=1024", "train.schedule=constant", "train.learning_rate=0.001953125"],
    ],
)
def test_what_null_stands_for_may_be_said_in_full(words: list[str]) -> None:
    assert run_id(load_experiment("base", words), "c") == run_id(load_experiment("base", words[:-1]), "c")


def test_a_peak_that_is_not_said_follows_width_and_warm_up() -> None:
    """Two widths have two peaks, and neither is another run's that said its peak."""
    peaks = [
        meaning(load_experiment("base", ["train.schedule=constant", *words]))["train.learning_rate"]
        for words in ([], ["model.d_model=256"], ["train.warmup=1000"])
    ]
    assert peaks == pytest.approx([6.987712e-4, 9.882118e-4, 1.397542e-3], rel=1e-6)


def test_the_order_in_which_splits_are_named_is_not_part_of_it() -> None:
    one, other = (load_experiment("base", [f"evaluate.splits=[{splits}]"]) for splits in ("valid,test", "test,valid"))
    assert one == other
    assert run_id(one, "c") == run_id(other, "c") != run_id(Experiment(), "c")


def test_operational_sections_hold_no_axis() -> None:
    for path, known in leaves().items():
        if path.split(".")[0] in OPERATIONAL_SECTIONS:
            assert known.axis is None
            assert not known.semantic


def test_every_leaf_is_described() -> None:
    assert [path for path, known in leaves().items() if not known.description] == []


@given(
    heads=st.sampled_from([1, 2, 4, 8, 16]),
    dropout=st.floats(0, 0.9),
    position=st.sampled_from(["sinusoidal", "learned", "none"]),
    beam=st.integers(1, 8),
    pairs=st.none() | st.integers(1, 10**6),
)
def test_dump_and_load_round_trip(heads: int, dropout: float, position: str, beam: int, pairs: int | None) -> None:
    words = [
        f"model.heads={heads}",
        f"model.dropout={dropout!r}",
        f"model.position={position}",
        f"decode.beam={beam}",
    ]
    if pairs is not None:
        words.append(f"data.train_pairs={pairs}")
    experiment = load_experiment("base", words)
    again = from_dict(to_dict(experiment))
    assert again == experiment
    assert from_dict(parse_scalar(to_yaml(experiment), "yaml")) == experiment
    assert run_id(again, "c") == run_id(experiment, "c")


def test_the_resolved_tree_echoes_what_was_asked() -> None:
    """SWP-12: a value that is asked for reaches the run."""
    experiment = load_experiment("base", ["train.warmup=123", "model.tying=none"])
    assert value_at(experiment, "train.warmup") == 123
    assert to_dict(experiment)["model"]["tying"] == "none"
