"""`ablatable analyse` over real (tiny) runs: pictures, data, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from matplotlib.figure import Figure
from tiny_runs import TINY
from typer.testing import CliRunner, Result

from ablatable.cli.main import app
from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.data.dataset import prepare
from ablatable.errors import InputError
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.training.run import execute

Named = Callable[..., Path]
CONVOLUTIONAL = ("model.architecture=convolutional", "model.rival_width=16")
QUICK = ("train.updates=2", "train.validate_every=2", "evaluate.sentences=2", "decode.extra_tokens=2")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Named:
    """The folder of a run with these overrides; each is trained once."""
    root = tmp_path_factory.mktemp("named") / "runs"
    made: dict[tuple[str, ...], Path] = {}

    def folder(*words: str) -> Path:
        if words not in made:
            made[words] = _run(root, cache, *words)
        return made[words]

    return folder


def _run(root: Path, cache: Path, *words: str) -> Path:
    given = {word.split("=", 1)[0] for word in (*QUICK, *words)}
    if "model.architecture" in given:
        given |= {"model.heads", "model.d_ff"}  # which only a Transformer has
    defaults = [word for word in TINY if word.split("=", 1)[0] not in given]
    experiment = load_experiment("base", [*defaults, *QUICK, *words])
    id = run_id(experiment, prepare(experiment, cache).corpus.fingerprint)
    execute(Job(experiment, id, Labels(None, None, None), root / id, cache))
    return root / id


@pytest.fixture(autouse=True)
def own_folders(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABLATABLE_CACHE", str(cache))
    monkeypatch.setenv("ABLATABLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)


def _call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["analyse", *map(str, words)])


def _data(*words: str | Path) -> Any:
    result = _call(*words, "--format", "json")
    assert result.exception is None, result.exception
    return json.loads(result.stdout)


def _refused(*words: str | Path) -> str:
    result = _call(*words)
    assert isinstance(result.exception, InputError), result.output
    message = str(result.exception)
    assert "\n" not in message
    return message


def _assert_pictures(folder: Path, *names: str) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "data.json",
        *(f"{n}.{e}" for n in names for e in ("png", "svg")),
    }
    for name in names:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "</svg>" in (folder / f"{name}.svg").read_text(encoding="utf-8")


def test_attention_of_a_sentence_is_drawn_and_told(named: Named, tmp_path: Path) -> None:
    run = named("model.layers=2")
    data = _data("attention", run, "--sentence", "a b c", "--target", "b c")
    assert [one["kind"] for one in data["maps"]] == ["encoder-self", "decoder-self", "cross"]
    source = [*_pieces(run, "a b c"), "</s>"]
    target = _pieces(run, "b c")
    own, decoder, cross = data["maps"]
    assert own["queries"] == own["keys"] == cross["keys"] == source
    assert decoder["queries"] == decoder["keys"] == ["<s>", *target]
    assert cross["queries"] == [*target, "</s>"]
    assert data["origin"] == "given"
    for maps in data["maps"]:
        assert [(one["layer"], one["head"]) for one in maps["heads"]] == [(i, j) for i in (1, 2) for j in (1, 2, 3, 4)]
        for head in maps["heads"]:
            assert len(head["weights"]) == len(maps["queries"])
            for t, row in enumerate(head["weights"]):
                assert len(row) == len(maps["keys"])
                assert sum(row) == pytest.approx(1, abs=1e-4)
                assert maps["kind"] != "decoder-self" or not any(row[t + 1 :])
    assert json.loads((run / "analysis" / "attention" / "data.json").read_text(encoding="utf-8")) == data
    _assert_pictures(run / "analysis" / "attention", "encoder-self", "decoder-self", "cross")


def _pieces(run: Path, text: str) -> list[str]:
    from ablatable.training.load import load_run

    tokenizer = load_run(run, Path(os.environ["ABLATABLE_CACHE"])).source_tokenizer
    return [tokenizer.pieces()[id] for id in tokenizer.encode(text)]


def test_the_weights_are_those_the_run_translates_with(named: Named, tmp_path: Path) -> None:
    """Decoded piece by piece, recorded at every step, of the translation the command says it read."""
    from ablatable.nn.recorder import recording
    from ablatable.training.load import load_run

    run = named("model.layers=2")
    data = _data("attention", run, "--sentence", "a b c", "--output", tmp_path / "out")
    loaded = load_run(run, Path(os.environ["ABLATABLE_CACHE"]))
    source = [*loaded.source_tokenizer.encode("a b c"), 3]
    cross = {(one["layer"], one["head"]): one["weights"] for one in data["maps"][2]["heads"]}
    ids = [loaded.target_tokenizer.pieces().index(piece) for piece in data["maps"][1]["queries"]]
    with torch.inference_mode():
        state = loaded.model.start(loaded.model.encode(torch.tensor([source])), 40)
        for t, id in enumerate(ids):
            with recording(loaded.model) as seen:
                loaded.model.step(torch.tensor([[id]]), state)
            for one in seen:
                if one.kind == "cross":
                    for head, row in enumerate(one.weights()[0, :, 0], start=1):
                        assert cross[one.layer, head][t] == pytest.approx(row.tolist(), abs=1e-5)
    assert data["origin"] == "the run's own translation"
    assert data["target"] == loaded.target_tokenizer.decode(ids[1:])


def test_a_development_sentence_with_its_reference(named: Named, tmp_path: Path) -> None:
    from ablatable.config.dump import from_dict
    from ablatable.config.yaml_file import read

    run = named("model.layers=2")
    experiment = from_dict(read(run / "config.yaml").data)
    data = prepare(experiment, Path(os.environ["ABLATABLE_CACHE"]))
    found = _data("attention", run, "--index", "3", "--reference", "--output", tmp_path / "out")
    assert found["source"] == data.sources("valid")[2]
    assert found["target"] == data.references("valid")[2]
    assert found["origin"] == "the reference"


def test_one_head_alone_and_the_same_bytes_again(named: Named, tmp_path: Path) -> None:
    run = named("model.layers=2")
    for name in ("first", "second"):
        words = ("--layer", "2", "--head", "3", "--output", tmp_path / name)
        assert _call("attention", run, "--sentence", "a b", "--target", "c", *words).exception is None
    names = [f"{kind}-layer2-head3" for kind in ("encoder-self", "decoder-self", "cross")]
    _assert_pictures(tmp_path / "first", *names)
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes(), path.name


def test_pieces_that_would_be_formulas_are_drawn_as_they_are(tmp_path: Path) -> None:
    """Matplotlib reads $...$ as a formula, and warns of every character that its font lacks: a box is drawn."""
    from ablatable.analysis.attention import pictures
    from ablatable.analysis.attention.maps import AttentionMaps, Head, SentenceAttention
    from ablatable.analysis.attention.statistics import even, statistics

    visible = torch.ones(2, 2, dtype=torch.bool)
    (found,) = statistics(even(visible)[None], visible, "cross")
    pieces = ["$x_{$", "\\frac$日"]
    head = Head(1, 1, found, [[0.5, 0.5], [1.0, 0.0]])
    made = SentenceAttention(
        "id", "$x_{$ \\frac$", "$", "given", True, [AttentionMaps("cross", pieces, pieces, found, [head])]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(pictures.draw(made, tmp_path)) == 2


def test_a_decoder_without_a_source_shows_itself(named: Named, tmp_path: Path) -> None:
    run = named("model.cross_attention=false")
    data = _data("attention", run, "--sentence", "a b", "--target", "c a", "--output", tmp_path / "out")
    assert [one["kind"] for one in data["maps"]] == ["decoder-self"]


def test_attention_that_sees_the_future_says_so(named: Named, tmp_path: Path) -> None:
    run = named("model.causal=false")
    data = _data("attention", run, "--sentence", "a b", "--target", "c a", "--output", tmp_path / "out")
    assert data["causal"] is False
    assert data["maps"][1]["even"]["next"] is not None


@pytest.mark.slow
def test_scores_of_a_run_beside_the_derivation(named: Named, tmp_path: Path) -> None:
    """The whole command at the paper's width."""
    run = named("model.layers=2")
    words = ("scores", "--run", run, "--sentences", "20")
    data = _data(*words)
    assert all(one["holds"] for one in data["components"]["variances"])
    assert all(one["holds"] for one in data["initial"]["variances"])
    assert data["run"]["run"] == run.name
    assert len(data["run"]["trained"]) == 3 * 2 * 4
    _assert_pictures(run / "analysis" / "scores", "variance", "softmax", "run")


def test_a_runs_initial_scores_are_made_again_and_other_scales_compared(named: Named, cache: Path) -> None:
    from ablatable.analysis.scores.trained import measure

    found = measure(named("model.layers=2"), cache, 20)
    assert (found.own, found.d_k, found.sentences) == ("1/sqrt(d_k)", 8, 20)
    assert {(one.kind, one.layer, one.head) for one in found.trained} == {
        (kind, layer, head)
        for kind in ("encoder-self", "decoder-self", "cross")
        for layer in (1, 2)
        for head in (1, 2, 3, 4)
    }
    for one in found.initial:
        assert set(one.softmax) == {"1/sqrt(d_k)", "none", "even"}
        assert one.product_variance == pytest.approx(8 * one.score_variance, rel=1e-4)
        assert one.score_spread <= 2 * one.score_variance
        for measure_name in ("entropy", "effective"):
            own, plain, even = (one.softmax[name][measure_name] for name in ("1/sqrt(d_k)", "none", "even"))
            assert plain < own < even
    assert found.initial != found.trained


@pytest.mark.parametrize(
    ("words", "own", "others"),
    [
        (("model.score=additive",), "additive", set()),
        (("model.score=cosine",), "cosine", set()),
        (("model.score_scale=none",), "none", {"1/sqrt(d_k)"}),
        (("model.score_scale=learned",), "learned", {"1/sqrt(d_k)", "none"}),
        (("model.position=shaw",), "1/sqrt(d_k)", {"none"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_every_score_is_shown_beside_the_scales_it_can_have(
    words, own, others, named: Named, cache: Path, tmp_path: Path
):
    from ablatable.analysis.scores import pictures
    from ablatable.analysis.scores.trained import measure

    found = measure(named(*words), cache, 4)
    assert found.own == own
    assert set(found.trained[0].softmax) == {own, *others, "even"}
    assert len(pictures.draw_run(found, tmp_path / "out")) == 2


@pytest.mark.slow
def test_positions_without_a_run_are_those_of_the_paper_and_repeat(tmp_path: Path) -> None:
    data = _data("positions", "--positions", "24")
    assert data["run"] is None
    assert [one["layout"] for one in data["rotations"]] == ["interleaved", "halves"]
    assert all(turn["residual"] < 1e-11 for one in data["rotations"] for turn in one["turns"])
    folder = tmp_path / "results" / "analysis" / "positions"
    _assert_pictures(folder, "encodings", "rotation-interleaved", "rotation-halves", "rope", "biases")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert _call("positions", "--positions", "24").exception is None
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "pictures", "filled"),
    [
        (("model.position=sinusoidal",), ["encodings", "rotation-interleaved"], {"similarities", "rotations"}),
        (("model.position=learned",), ["encodings"], {"similarities"}),
        (("model.position=index", "model.position_combine=concatenate"), ["encodings"], {"similarities"}),
        (CONVOLUTIONAL, ["encodings", "rotation-interleaved"], {"similarities", "rotations"}),
        (("model.position=rope",), ["rope"], {"decays"}),
        (("model.position=alibi", "model.position_slopes=learned"), ["biases"], {"biases"}),
        (("model.position=t5",), ["biases"], {"biases"}),
        (("model.position=shaw",), ["vectors"], {"vectors"}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)  # fmt: skip
def test_positions_of_a_run(
    words, pictures, filled, named: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[list[str]] = []
    write = Figure.savefig

    def seen(made: Figure, *given: Any, **named: Any) -> None:
        titles.append([made.get_suptitle(), *(axes.get_title() for axes in made.axes)])
        write(made, *given, **named)

    monkeypatch.setattr(Figure, "savefig", seen)
    run = named(*words)
    data = _data("positions", "--run", run, "--positions", "20", "--output", tmp_path / "out")
    assert len(titles) == 2 * len(pictures)
    assert all(any(f"run {run.name}" in title for title in of_one) for of_one in titles)
    lists = {name for name, value in data.items() if isinstance(value, list) and value}
    assert lists == filled
    _assert_pictures(tmp_path / "out", *pictures)
    combined = any("concatenate" in word for word in words)
    assert all(("concatenated" in one["name"]) == combined for one in data["similarities"])


def test_rows_that_no_training_reached_are_not_shown(named: Named, tmp_path: Path) -> None:
    run = named("model.position=learned", "data.max_length=12", "model.position_max=64")
    assert _data("positions", "--run", run, "--positions", "60", "--output", tmp_path / "out")["positions"] == 13


def test_a_run_is_found_by_the_beginning_of_its_id(
    named: Named, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = named("model.layers=2")
    monkeypatch.setenv("ABLATABLE_RUNS", str(run.parent))
    data = _data("attention", run.name, "--sentence", "a", "--target", "a", "--output", tmp_path / "out")
    assert data["run"] == run.name


@pytest.mark.parametrize("command", ["scores", "attention", "positions"])
def test_a_run_that_is_not_there_is_refused(command: str) -> None:
    words = ("ffff", "--sentence", "a") if command == "attention" else ("--run", "ffff")
    assert "has an id that begins with 'ffff'" in _refused(command, *words)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    assert "is not a run's folder" in _refused("scores", "--run", tmp_path)


@pytest.mark.parametrize("command", ["scores", "attention", "positions"])
def test_a_run_without_weights_is_refused(command: str, named: Named, tmp_path: Path) -> None:
    """Deleted, never finished, or failed: each says which."""
    run = named("model.layers=2")
    copy = tmp_path / "copies" / run.name
    shutil.copytree(run, copy)
    shutil.rmtree(copy / "checkpoints")
    words = (copy, "--sentence", "a") if command == "attention" else ("--run", copy)
    message = _refused(command, *words)
    assert f"run {run.name} has no weights to analyse" in message
    assert "they were deleted" in message
    record = json.loads((copy / "record.json").read_text(encoding="utf-8"))
    (copy / "record.json").write_text(
        json.dumps({**record, "status": "failed", "cause": "loss is nan"}), encoding="utf-8"
    )
    assert "it failed (loss is nan)" in _refused(command, *words)
    (copy / "record.json").unlink()
    assert "it has not finished" in _refused(command, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("model.architecture=rnn", "model.rival_width=16"),
        ("model.architecture=rnn", "model.rival_width=16", "model.rnn_attention=none"),
        ("model.architecture=bag", "model.rival_width=16"),
        CONVOLUTIONAL,
    ],
    ids=lambda words: " ".join(words),
)
def test_another_architecture_has_no_heads_to_show(words: tuple[str, ...], named: Named) -> None:
    run, architecture = named(*words), words[0]
    assert f"is of {architecture}, which has no attention heads" in _refused("attention", run, "--sentence", "a")
    assert f"is of {architecture}, which has no attention heads" in _refused("scores", "--run", run)
    if architecture.endswith(("rnn", "bag")):
        assert "has no positions to show" in _refused("positions", "--run", run)


def test_a_run_without_positions_has_none_to_show(named: Named) -> None:
    assert "has model.position=none" in _refused("positions", "--run", named("model.position=none"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name one sentence"),
        (("--sentence", "a", "--index", "1"), "name one sentence"),
        (("--sentence", "  "), "the sentence is empty"),
        (("--sentence", "a", "--target", ""), "the target is empty"),
        (("--sentence", "a b c " * 40), r"the sentence has \d+ pieces and a picture has room for 63"),
        (("--sentence", "a", "--target", "a b c " * 40), r"the target has \d+ pieces and a picture has room for 63"),
        (("--index", "100000"), r"has \d+ sentences; name one of them"),
        (("--sentence", "a", "--reference"), "name it with --index"),
        (("--index", "1", "--reference", "--target", "a"), "both name the target"),
        (("--sentence", "a", "--target", "a", "--layer", "9"), "--layer 9: run .* has 2"),
        (("--sentence", "a", "--target", "a", "--head", "9"), "--head 9: run .* has 4"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else None,
)
def test_a_sentence_that_cannot_be_shown_is_refused(words, message: str, named: Named) -> None:
    assert re.search(message, _refused("attention", named("model.layers=2"), *words))


def test_sentences_without_a_run_to_read_them_are_refused() -> None:
    assert "--sentences is what the run reads; name one with --run" in _refused("scores", "--sentences", "8")


def test_a_head_that_is_not_there_is_told_before_anything_is_read(named: Named) -> None:
    """The development text is not asked for, so its own refusal does not come first."""
    run = named("model.layers=2")
    assert "--head 9: run" in _refused("attention", run, "--index", "100000", "--head", "9")


def test_a_sentence_longer_than_the_learned_positions_is_refused(named: Named) -> None:
    run = named("model.position=learned", "data.max_length=12", "model.position_max=20")
    assert "longer than model.position_max=20" in _refused(
        "attention", run, "--sentence", "a b c " * 10, "--target", "a"
    )


@pytest.mark.parametrize("kind", ["scores", "positions"])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")

    def measured(*_: Any) -> None:
        pytest.fail("measured all the same")

    monkeypatch.setattr(f"ablatable.analysis.{kind}.make.measure", measured)
    for place in (tmp_path / "file", tmp_path / ("a" * 300), Path("/proc/none")):
        assert "name another folder with --output" in _refused(kind, "--output", place)


def test_as_a_process_a_run_that_is_not_there_is_one_line_and_two(repository: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from ablatable.cli.main import main; main()",
        "analyse",
        "scores",
        "--run",
        "ffff",
    ]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=repository, check=False)
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: no run in ")
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""
