"""Settings in layers: what is refused, where the message points, and what a later layer may drop."""

from pathlib import Path

import pytest

from ablatable.config.layers import build, from_document, from_overrides
from ablatable.config.load import experiment_layers, load_experiment
from ablatable.config.schema import Experiment
from ablatable.config.yaml_file import parse_scalar, read
from ablatable.errors import InputError


def write(folder: Path, text: str, name: str = "mine.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model.headz=3"], "unknown key 'model.headz'; did you mean 'model.heads'?"),
        (["heads=3"], "did you mean 'model.heads'?"),
        (["model=3"], "'model' is a section"),
        (["model.heads=0"], "model.heads=0 is not possible"),
        (["model.heads=2.5"], "model.heads=2.5 is not possible"),
        (["model.heads=3"], "does not divide model.d_model=512"),
        (["model.dropout=1.0"], "less than 1"),
        (["model.position=ropes"], "'shaw', 't5' or 'none'"),
        (["model.d_model=511", "model.heads=7"], "odd"),
        (["tokenizer.sharing=separate"], "tokenizer.sharing=separate makes two"),
        (["model.position=learned", "model.position_max=100"], "shorter than the longest training sentence"),
        (["train.updates"], "is not key=value"),
        (["model.heads=1", "model.heads=1"], "given twice"),
        (["data.corpus=lohelp"], "unknown corpus 'lohelp'; did you mean"),
        (["data.corpus=files"], "data.files_languages"),
        (["evaluate.splits=[valid,valid]"], "names a split twice"),
        (["train.max_target_tokens=10"], "less than one batch"),
        (["train.average_last=5", "train.updates=4000"], "more than the 4 checkpoints"),
        (["train.average_last=abc", "train.average_every=10"], "train.average_last=abc is not possible"),
        (["decode.beam=abc", "decode.length_penalty=1.0"], "decode.beam=abc is not possible"),
        (
            [
                *(f"data.files_{side}_{split}=x" for side in ("source", "target") for split in ("train", "valid")),
                "data.corpus=files",
                "data.files_languages=en-de",
                "evaluate.splits=[valid,test]",
            ],
            "there is no test text; set data.files_source_test",
        ),
    ],
)
def test_bad_overrides_say_what_and_why(words: list[str], expected: str) -> None:
    with pytest.raises(InputError, match="command line") as error:
        load_experiment("base", words)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    "words",
    [
        ["model.position_max=100"],
        ["model.position=none", "model.position_layout=halves"],
        ["model.position=none", "model.position_layout=interleaved"],
        ["train.average_every=10"],
        ["evaluate.checkpoint=best", "train.average_last=5"],
        ["decode.beam=1", "decode.length_penalty=1.0"],
        ["data.files_languages=en-de"],
    ],
)
def test_inert_settings_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError, match="does nothing, it needs"):
        load_experiment("base", words)


def test_a_later_layer_that_switches_off_drops_what_earlier_ones_said() -> None:
    experiment = load_experiment("t2t-2017-base", ["model.position=learned"])
    assert experiment.model.position_layout == "interleaved"
    assert experiment.model.position == "learned"


def test_the_file_and_line_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, "extends: base\nmodel:\n  heads: 8\n  dropuot: 0.1\n")
    with pytest.raises(InputError, match=r"mine\.yaml:4: unknown key 'model\.dropuot'; did you mean 'model\.dropout'"):
        load_experiment(path)
    path = write(tmp_path, "extends: base\nmodel:\n  heads: eight\n")
    with pytest.raises(InputError, match=r"mine\.yaml:3: model\.heads=eight is not possible"):
        load_experiment(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model: [1, 2", "YAML syntax error"),
        ("model:\n  heads: 1\n  heads: 2\n", "given twice"),
        ("model:\n  heads: 1\nmodel.heads: 2\n", "given twice"),
        ("- a\n- b\n", "expected `key: value` lines"),
        ("model: 3\n", "is a section"),
        ("model:\n  heads:\n    x: 1\n", "takes one value"),
        ("extends: nothing-here\n", "unknown experiment 'nothing-here'"),
        ("extends: mine\n", "comes back to this file"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError) as error:
        load_experiment(write(tmp_path, text))
    assert expected in str(error.value)
    assert "mine.yaml" in str(error.value) or "nothing-here" in str(error.value)


def test_invalid_utf8_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"title: \xff\n")
    with pytest.raises(InputError, match="not valid UTF-8"):
        load_experiment(str(tmp_path / "bad.yaml"))
    with pytest.raises(InputError, match="no such file"):
        load_experiment(str(tmp_path / "absent.yaml"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-9", 1e-9),
        ("off", "off"),
        ("none", "none"),
        ("no", "no"),
        ("true", True),
        ("null", None),
        ("010", 10),
    ],
)
def test_scalars_are_read_as_a_researcher_means_them(text: str, value: object) -> None:
    read_value = parse_scalar(text, "test")
    assert read_value == value
    assert type(read_value) is type(value)


def test_a_partial_section_keeps_the_other_keys(tmp_path: Path) -> None:
    """SWP-11: a nested value must not replace its whole block."""
    path = write(tmp_path, "extends: base\nmodel:\n  heads: 4\n")
    experiment = load_experiment(path, ["model.dropout=0.3"])
    assert (experiment.model.heads, experiment.model.dropout, experiment.model.d_ff) == (4, 0.3, 2048)


def test_dotted_and_nested_keys_mean_the_same(tmp_path: Path) -> None:
    nested = from_document(read(Path(write(tmp_path, "model:\n  heads: 4\n"))))
    dotted = from_document(read(Path(write(tmp_path, "model.heads: 4\n", "dotted.yaml"))))
    assert build([nested]) == build([dotted]) == build([from_overrides(["model.heads=4"])])


def test_base_yaml_is_the_default_tree() -> None:
    assert load_experiment("base") == Experiment()


def test_layers_of_a_file_come_after_those_it_extends() -> None:
    first, *_, last = experiment_layers("big")
    assert first["model.d_model"].value == 512
    assert last["model.d_model"].value == 1024


@pytest.mark.parametrize(
    "text", ["model: &m {heads: *m}\n", f"seed: {'9' * 5000}\n", f"model: {'[' * 3000}{']' * 3000}\n"]
)
def test_yaml_that_python_cannot_hold_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"mine\.yaml"):
        load_experiment(write(tmp_path, text))


def test_overrides_take_what_wandbs_agent_writes() -> None:
    words = [
        "model.dropout_embedding=None",
        "model.causal=False",
        "train.learning_rate_factor=1e-05",
        "model.norm=none",
    ]
    made = build([from_overrides(words)])
    assert (made.model.dropout_embedding, made.model.causal) == (None, False)
    assert (made.train.learning_rate_factor, made.model.norm) == (1e-05, "none")
