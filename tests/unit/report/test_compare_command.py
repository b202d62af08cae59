"""`ablatable compare` over a runs folder: which runs a word means, what is printed, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from run_shelf import CORPUS, Shelf, worse
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.config.locate import cache_folder, runs_folder
from ablatable.errors import InputError
from ablatable.record.schema import Labels
from ablatable.record.store import Store
from ablatable.study.gather import expected
from ablatable.study.load import load_study
from ablatable.study.records_file import write_records

ONE, TWO, SAME = "a100000000000000", "a200000000000000", "b300000000000000"
TABLE = {"labels": Labels("mine", "base", "cpu")}
WIDE = {"labels": Labels("mine", "wide", "cpu")}


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """One run, a worse one of the row `wide`, and one that translates as the first does."""
    monkeypatch.chdir(tmp_path)
    shelf = Shelf(runs_folder(), cache_folder())
    good, bad = worse(shelf.references, 6), worse(shelf.references, 2)
    curve = [(10, 3.0), (20, 2.0)]
    shelf.run(ONE, hypotheses=good, curve=curve, **TABLE)
    shelf.run(TWO, "model.d_ff=1024", hypotheses=bad, curve=curve, **WIDE)
    shelf.run(SAME, "model.d_ff=512", hypotheses=good, curve=curve, labels=Labels(None, "alone", None))
    return shelf


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["compare", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def data(*arguments: str) -> dict[str, Any]:
    return json.loads(said(*arguments, "--format", "json"))


def refused(*arguments: str) -> str:
    with pytest.raises(InputError) as error:
        CliRunner().invoke(app, ["compare", *arguments], catch_exceptions=False)
    return str(error.value)


def names(*words: str) -> list[list[str]]:
    columns = data(*words, "--parts", "config")["columns"]
    return [[column["name"], *column["ids"]] for column in columns]


def test_words_for_a_run(tmp_path: Path) -> None:
    assert names(ONE, "b") == [["mine/base/1", ONE], ["alone/1", SAME]]
    assert names(str(runs_folder() / ONE), "mine/wide") == [["mine/base/1", ONE], ["mine/wide/1", TWO]]
    assert names("alone/1", "mine/wide/1") == [["alone/1", SAME], ["mine/wide/1", TWO]]


def test_a_run_beside_itself_and_one_that_translates_alike_do_not_differ() -> None:
    for other in (ONE, SAME):
        made = data(ONE, other)
        assert [line["p"] for line in made["tests"]] == [1.0] * 4
        assert [line["difference"] for line in made["tests"]] == [0.0] * 4
        assert made["sentences"] == []
    assert "Every setting is the same." in said(ONE, ONE)
    assert "No sentence scores differently." in said(ONE, SAME)
    assert [line["path"] for line in data(ONE, SAME)["settings"]] == ["model.d_ff"]


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_p_values_are_those_of_the_sacrebleu_command(tmp_path: Path, metric: str) -> None:
    """With differences enough that no mixture ties with what was observed: sacreBLEU does not count ties."""
    shelf = Shelf(runs_folder(), cache_folder(), sentences=40)
    for id, rate in (("e" * 16, 0.3), ("f" * 16, 0.25)):
        draw = Random(id)
        damaged = [[word if draw.random() > rate else "?" for word in line.split()] for line in shelf.references]
        shelf.run(id, hypotheses=[" ".join(line[draw.randrange(3) :]) for line in damaged])
    (tmp_path / "ref").write_text("".join(f"{line}\n" for line in shelf.references), encoding="utf-8")
    systems = [str(runs_folder() / id / "hypotheses.valid.txt") for id in ("e" * 16, "f" * 16)]
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", *systems, "-m", metric, "--paired-ar", "--force"]
    environment = {**os.environ, "SACREBLEU_SEED": "7"}
    arguments = [*command, "--paired-ar-n", "1000", "--format", "json"]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    (theirs,) = (score for name, score in json.loads(answer.stdout)[1].items() if name != "system")
    made = data("eeee", "ffff", "--seed", "7", "--randomisation", "1000")
    (ours,) = (
        line
        for line in made["tests"]
        if line["test"] == "approximate randomisation" and line["metric"] == f"valid.{metric}"
    )
    assert ours["p"] == pytest.approx(theirs["p_value"])
    assert 0.01 < ours["p"] < 0.9
    assert ours["n"] == len(shelf.references)
    assert "ar:1000|seed:7" in ours["signature"]


def test_the_same_command_prints_the_same_bytes() -> None:
    assert said(ONE, TWO) == said(ONE, TWO)
    assert said(ONE, TWO, "--format", "json") == said(ONE, TWO, "--format", "json")
    intervals = [[line["low"] for line in data(ONE, TWO, "--seed", seed)["tests"]] for seed in ("1", "2")]
    assert intervals[0] != intervals[1]


def test_what_is_printed(shelf: Shelf) -> None:
    text = said(ONE, TWO, SAME, "--sentences", "1")
    for title in ("Settings that differ", "Metrics", "Learning curves", "Significance", "Sentences that changed most"):
        assert f"### {title}\n" in text
    assert "| model.d_ff | 2048" in text
    assert "p (Holm)" in text
    assert "that takes seeds" in text
    assert "no run keeps its NLL sentence by sentence" in text
    assert text.count("reference  ") == 1
    assert "### Sentences" not in said(ONE, TWO, "--sentences", "0")
    only = said(ONE, TWO, "--parts", "metrics")
    assert "### Metrics" in only
    assert "### Learning" not in only


def test_changed_sentences_are_the_damaged_ones(shelf: Shelf) -> None:
    made = data(ONE, TWO, "--sentences", "100", "--by", "bleu")
    numbers = {sentence["number"] for sentence in made["sentences"]}
    assert numbers <= {3, 5, 9, 11}  # 1 and 7 are damaged on both sides
    first = made["sentences"][0]
    assert first["reference"] == shelf.references[first["number"] - 1]
    assert first["scores"][0] > first["scores"][1]


def test_rows_with_seeds_are_tested_over_seeds(shelf: Shelf) -> None:
    for seed, extra in ((2, 6), (3, 5)):
        shelf.run(f"c{seed}" * 8, f"seed={seed}", hypotheses=worse(shelf.references, extra), **TABLE)
        shelf.run(f"d{seed}" * 8, f"seed={seed}", "model.d_ff=1024", hypotheses=worse(shelf.references, 2), **WIDE)
    made = data("mine/base", "mine/wide", "alone/1")
    assert [column["seeds"] for column in made["columns"]] == [[1, 2, 3], [1, 2, 3], [1]]
    tests = {(line["letter"], line["test"], line["n"]) for line in made["tests"]}
    assert tests == {
        ("B", "paired t over seeds", 3),
        ("C", "paired bootstrap", 12),
        ("C", "approximate randomisation", 12),
    }
    text = said("mine/base", "mine/wide", "alone/1")
    assert "A is its seed 1, B is its seed 1, C is its seed 1" in text
    assert "±" in text
    bleu = next(line for line in made["metrics"] if line["key"] == "valid.bleu")
    assert bleu["samples"][0]["n"] == 3
    assert data("mine/base/2", "mine/wide/2")["columns"][0]["ids"] == ["c2" * 8]
    # rows with seeds need no translations for their tests
    for folder in runs_folder().iterdir():
        (folder / "hypotheses.valid.txt").unlink()
    assert data("mine/base", "mine/wide", "--parts", "significance")["tests"]


def test_rows_of_a_study_at_a_scale(shelf: Shelf, tmp_path: Path) -> None:
    """By the study's file, whose rows say which runs they are."""
    rows = {runs.row.name: runs for runs in expected("demo", "demo-toy", 2).rows}
    for name in ("base", "one-head"):
        for seed, id in zip(rows[name].seeds, rows[name].ids, strict=True):
            if name == "base" or seed == 1:
                shelf.run(id, f"seed={seed}", metrics={"valid.bleu": 9.0}, labels=Labels("demo", name, "demo-toy"))
    parts = ["--parts", "config,metrics,curves"]
    made = data("demo/base", "demo/one-head", *parts)
    assert [column["ids"] for column in made["columns"]] == [list(rows["base"].ids), [rows["one-head"].ids[0]]]
    assert made["columns"][1]["name"] == "demo/one-head/1"
    assert made["columns"][1]["remark"] == "1 of 2 runs completed"
    assert data("demo/base/2", ONE, *parts)["columns"][0]["ids"] == [rows["base"].ids[1]]
    assert "did you mean 'one-head'" in refused("demo/one-hed", ONE)
    assert "no finished run" in refused("demo/no-positions", ONE)
    assert "no finished run" in refused("demo/base", ONE, "--scale", "demo")
    assert "no such row at scale cpu" in refused(f"demo/{_only_elsewhere('cpu')}", ONE, "--scale", "cpu")
    shelf.run("e" * 16, labels=Labels("demo", "base", "demo"))
    assert "say which with --scale" in refused("demo/base", ONE)


def _only_elsewhere(scale: str) -> str:
    return load_study("demo").absent(scale)[0].name


def test_published_records_have_all_but_the_sentences(tmp_path: Path) -> None:
    records = Store(runs_folder()).records()
    write_records(tmp_path / "results" / "mine" / "cpu" / "records.jsonl", records)
    text = said(ONE, TWO, "--source", "results")
    assert "### Metrics" in text
    assert "Not over sentences: published records come without the translations." in text
    assert "without the translations" in refused(ONE, TWO, "--source", "results", "--parts", "sentences")
    assert "no run in results/" in refused("f", TWO, "--source", "results")


def test_other_text_is_never_compared(shelf: Shelf) -> None:
    shelf.run("f" * 16, hypotheses=shelf.references, stamp={"corpus": "other", "corpus_fingerprint": "0" * 16})
    text = said(ONE, "ffff")
    assert "The runs do not share their text" in text
    assert "Nothing that was measured on it compares" in text
    assert "Not over sentences: the runs translated different text" in text
    made = data(ONE, "ffff")
    bleu = next(line for line in made["metrics"] if line["key"] == "valid.bleu")
    assert bleu["differences"] == [None, None]
    assert made["tests"] == []
    assert "translated different text" in refused(ONE, "ffff", "--parts", "significance")


def test_other_numbers_of_sentences_are_not_paired(shelf: Shelf) -> None:
    shelf.run("f" * 16, "evaluate.sentences=5", metrics={"valid.bleu": 3.0})
    assert "(evaluate.sentences: 12 and 5)" in refused(ONE, "ffff", "--parts", "significance")


def test_other_pieces(shelf: Shelf) -> None:
    shelf.run("f" * 16, hypotheses=shelf.references, stamp={"tokenizer_fingerprint": "other"})
    text = said(ONE, "ffff")
    assert "do not share their pieces" in text
    assert "approximate randomisation" in text  # the sentences are the same


def test_curves_are_written_only_where_asked(tmp_path: Path) -> None:
    said(ONE, TWO)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "runs"]
    said(ONE, TWO, "--output", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["curves.png", "curves.svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([ONE], "compare takes two runs at least"),
        ([ONE] * 27, "26 runs at most, and 27 are named"),
        ([ONE, "f"], "no run in runs/ has an id that begins with 'f'"),
        ([ONE, "a"], f"'a' begins the ids of 2 runs in runs/ ({ONE}, {TWO}); give more of it"),
        ([ONE, ""], "begins with ''"),
        ([ONE, "nowhere/base"], "nothing is called 'nowhere/base'"),
        ([ONE, "mine/base/7"], "nothing is called 'mine/base/7'"),
        ([ONE, "mine/bose"], "did you mean 'mine/base'?"),
        ([ONE, "a/b/c"], "'c' is no seed; write study/row/1"),
        ([ONE, "a/b/1/2"], "neither a run's folder nor study/row"),
        ([ONE, TWO, "--parts", "curve"], "unknown part 'curve'; did you mean 'curves'?"),
        ([ONE, TWO, "--parts", ","], "name at least one of config"),
        ([ONE, TWO, "--parts", "config", "--output", "x"], "add curves to --parts"),
        ([ONE, TWO, "--split", "test"], "was scored on valid, not on test; choose another --split"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


def test_several_runs_of_one_name_are_listed(shelf: Shelf) -> None:
    shelf.run("f" * 16, "model.heads=2", labels=Labels(None, "alone", None))
    assert refused(ONE, "alone/1") == f"several runs are called 'alone/1' ({SAME}, {'f' * 16}); name them by id"


def test_runs_that_are_not_finished(shelf: Shelf) -> None:
    shelf.begun("e" * 16)
    assert "was stopped before it finished" in refused(ONE, "eeee")
    with Store(runs_folder()).lock("e" * 16):
        assert "is still going (update 40 of 100)" in refused(ONE, "eeee")
    with Store(runs_folder()).lock(ONE):  # a completed run stays one
        said(ONE, TWO, "--parts", "config")


def test_a_failed_run_has_settings_and_a_curve_but_no_sentences(shelf: Shelf) -> None:
    shelf.run("f" * 16, "train.warmup=9", curve=[(10, 8.0)], status="failed", cause="the loss is nan")
    message = refused(ONE, "ffff")
    assert "has no translations: it failed (the loss is nan); leave the sentences out with --parts" in message
    text = said(ONE, "ffff", "--parts", "config,metrics,curves")
    assert "| train.warmup | 4000" in text
    assert "| failed    |" in text


def test_translations_that_are_gone_cut_or_of_another_run() -> None:
    path = runs_folder() / ONE / "hypotheses.valid.txt"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.split("\n", 1)[1], encoding="utf-8")
    assert "has 11 lines for 12 sentences of valid" in refused(ONE, TWO)
    path.write_bytes((runs_folder() / TWO / "hypotheses.valid.txt").read_bytes())
    assert "is not what was scored" in refused(ONE, TWO)
    path.unlink()
    assert "has no translations of valid" in refused(ONE, TWO)


def test_a_corpus_that_is_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ABLATABLE_CACHE", str(tmp_path / "empty"))
    assert f"fetch it with `ablatable corpus get {CORPUS}`" in refused(ONE, TWO)
    assert not (tmp_path / "empty").exists()
    assert "### Metrics" in said(ONE, TWO, "--parts", "metrics,curves")


def test_another_release_of_the_corpus(shelf: Shelf) -> None:
    for id in ("f" * 16, "e" * 16):
        shelf.run(id, hypotheses=shelf.references, stamp={"corpus_fingerprint": "0" * 16})
    assert "is not the release that run" in refused("ffff", "eeee")


def test_a_damaged_record_is_named() -> None:
    (runs_folder() / TWO / "record.json").write_text("{", encoding="utf-8")
    assert f"{TWO}/record.json is not a readable record" in refused(ONE, TWO)


def test_bad_input_exits_2(repository: Path) -> None:
    script = "import sys; from ablatable.cli.main import main; sys.argv[0] = 'ablatable'; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "compare", ONE, "a"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: 'a' begins the ids of 2 runs")
    assert done.stderr.count("\n") == 1
