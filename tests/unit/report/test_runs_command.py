"""`ablatable runs`: what is listed, what a filter lets through, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from run_shelf import Shelf
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.config.locate import cache_folder, runs_folder
from ablatable.config.tree import leaves
from ablatable.errors import InputError
from ablatable.record.schema import Labels
from ablatable.record.store import Store
from ablatable.report.listing.entry import Entry
from ablatable.report.listing.filters import parse
from ablatable.report.listing.keys import key
from ablatable.report.settings import INACTIVE, setting_at
from ablatable.study.records_file import write_records

ROPE, PLAIN, ALIBI, BAD, STOPPED = (f"{letter}000000000000000" for letter in "abcde")


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Three finished runs, one that failed and one that was stopped."""
    monkeypatch.chdir(tmp_path)
    shelf = Shelf(runs_folder(), cache_folder())
    table = Labels("table3", "rope", "cpu")
    shelf.run(ROPE, "model.position=rope", metrics={"valid.bleu": 21.0, "valid.ppl": 14.0}, labels=table)
    shelf.run(PLAIN, "model.heads=4", "seed=2", metrics={"valid.bleu": 19.5, "valid.ppl": 15.0, "test.bleu": 30.0})
    shelf.run(ALIBI, "model.position=alibi", metrics={"valid.bleu": 25.0, "valid.ppl": 16.0}, labels=table)
    shelf.run(BAD, "train.warmup=10", status="failed", cause="the loss is nan", updates=7)
    shelf.begun(STOPPED, "model.position=rope", update=40)
    return shelf


def listed(*arguments: str) -> dict[str, dict[str, Any]]:
    result = CliRunner().invoke(app, ["runs", "--format", "json", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return {run["id"][0]: run for run in json.loads(result.stdout)["runs"]}


def ids(*arguments: str) -> str:
    return "".join(listed(*arguments))


def test_every_run_is_listed_with_its_state() -> None:
    found = listed()
    assert {id: run["status"] for id, run in found.items()} == {
        "a": "completed",
        "b": "completed",
        "c": "completed",
        "d": "failed",
        "e": "interrupted",
    }
    assert found["e"]["updates"] == 40
    assert found["d"]["updates"] == 7
    assert found["a"]["study"] == "table3"
    assert found["a"]["valid.bleu"] == 21.0


def test_a_run_that_is_going_is_running_and_a_repeated_failure_too() -> None:
    store = Store(runs_folder())
    with store.lock(STOPPED), store.lock(BAD):
        found = listed("status=running")
    assert "".join(found) == "de"


def test_a_damaged_record_hides_no_other_run() -> None:
    (runs_folder() / PLAIN / "record.json").write_text("{", encoding="utf-8")
    (runs_folder() / "not-a-run").mkdir()
    assert listed("status=damaged", "--columns", "id,cause")["b"]["cause"].count("record.json is not a readable record")
    assert set(listed()) == set("abcde")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["model.position=rope"], "ae"),
        (["model.position!=rope"], "cbd"),
        (["bleu>20"], "ac"),
        (["valid.bleu>=21"], "ac"),
        (["ppl<=15"], "ab"),
        (["test.bleu>1"], "b"),
        (["ppl<=15", "bleu>20"], "a"),
        (["status=completed"], "acb"),
        (["study=table3"], "ac"),
        (["study=table3", "row=rope", "scale=cpu"], "ac"),
        (["seed=2"], "b"),
        (["seed!=2"], "acde"),
        (["model.heads>4"], "acde"),
        (["model.heads=4.0"], "b"),
        (["updates<100"], "de"),
        (["parameters=1000"], "acbd"),
        (["model.dropout=0.1"], "acbde"),
        (["model.attention_bias=true"], "acbde"),
        (["evaluate.splits=[valid]"], "acbde"),
        (["train.max_minutes=null"], "acbde"),
        (["train.max_minutes!=null"], ""),
        (["model.d_k=128"], "b"),  # null: d_model / heads
        (["model.d_k<128"], "acde"),
        (["model.embedding_std<0.1"], "acbde"),
        (["model.position_base=10000"], "abde"),  # not where ALiBi makes no waves
        (["model.position_base!=3"], "abde"),
        (["model.position_slopes=fixed"], "c"),
        (["model.position_slopes!=learned"], "c"),
        (["train.learning_rate=null"], ""),  # inactive under the paper's schedule
        (["cause!=x"], "de"),
    ],
)
def test_filters(filters: list[str], expected: str) -> None:
    assert sorted(ids(*filters)) == sorted(expected)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("model.positon=rope", "unknown key 'model.positon'; did you mean 'model.position'?"),
        ("position=rope", "did you mean 'model.position'?"),
        ("blue>20", "unknown key 'blue'; did you mean 'bleu'?"),
        ("model.position=roper", "model.position is never 'roper'; did you mean 'rope'?"),
        ("status=done", "status is never 'done'"),
        ("train.precision=fp16", "did you mean 'fp32'|is never 'fp16'"),
        ("bleu>good", "'good' is not a value of valid.bleu, which is a number"),
        ("model.heads=true", "'true' is not a value of model.heads"),
        ("model.causal=1", "'1' is not a value of model.causal, which is a boolean"),
        ("model.causal>false", "only numbers are compared with '>'"),
        ("model.heads=null", "'null' is not a value of model.heads"),
        ("train.max_minutes>null", "'null' is not a value"),
        ("evaluate.splits=valid", "which is a list"),
        ("model.position>rope", "is text and has no order"),
        ("bleu", "'bleu' is not a filter"),
        ("bleu==20", "write one '=', as in bleu=20"),
        ("=20", "'=20' is not a filter"),
    ],
)
def test_bad_filters(word: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        ids(word)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sort", "blu"], "--sort: unknown key 'blu'; did you mean 'bleu'"),
        (["--columns", "id,positon"], "--columns: unknown key 'positon'"),
        (["--columns", ","], "name at least one"),
        (["--source", "results"], "holds no published table"),
    ],
)
def test_bad_options(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ids(*arguments)


def test_bad_input_exits_2_with_one_sentence(repository: Path) -> None:
    script = "import sys; from ablatable.cli.main import main; sys.argv = ['ablatable', 'runs', 'blue>20']; main()"
    environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: 'blue>20': unknown key 'blue'; did you mean 'bleu'?\n"


def test_order() -> None:
    assert ids() == "acdeb"  # by study, row and seed; what has no labels last
    assert ids("--sort", "ppl") == "abcde"
    assert ids("--sort", "ppl", "--reverse") == "cbade"  # what has none is last either way
    assert ids("--sort", "model.heads") == "bacde"


def test_what_is_filtered_or_sorted_by_is_shown() -> None:
    found = listed("model.heads>4", "--sort", "model.d_ff")
    assert found["a"]["model.heads"] == 8
    assert found["a"]["model.d_ff"] == 2048
    assert list(listed("model.heads>4", "--columns", "id,seed")["a"]) == ["id", "seed"]


def test_forms() -> None:
    arguments = ["runs", "bleu>1", "--columns", "id,row,bleu,model.position_slopes"]
    text = CliRunner().invoke(app, arguments, catch_exceptions=False).stdout
    assert text.splitlines() == [
        "| id               | row  |  bleu | model.position_slopes |",
        "|------------------|------|------:|-----------------------|",
        "| a000000000000000 | rope | 21.00 | –                     |",
        "| c000000000000000 | rope | 25.00 | fixed                 |",
        "| b000000000000000 |      | 19.50 | –                     |",
        "",
        "3 of 5 runs",
    ]
    rows = list(csv.reader(CliRunner().invoke(app, [*arguments, "--format", "csv"]).stdout.splitlines()))
    assert rows[0] == ["id", "row", "valid.bleu", "model.position_slopes"]
    assert rows[2] == [ALIBI, "rope", "25.0", "fixed"]


def test_numbers_that_do_not_compare_are_said(shelf: Shelf) -> None:
    assert json.loads(CliRunner().invoke(app, ["runs", "--format", "json"]).stdout)["notes"] == []
    shelf.run("f000000000000000", metrics={"valid.ppl": 3.0}, stamp={"tokenizer_fingerprint": "other"})
    (note,) = json.loads(CliRunner().invoke(app, ["runs", "--format", "json"]).stdout)["notes"]
    assert note.startswith("valid.ppl: these rows do not share corpus and tokenizer")
    assert json.loads(CliRunner().invoke(app, ["runs", "bleu>1", "--format", "json"]).stdout)["notes"] == []


def test_published_records_are_listed_once(tmp_path: Path) -> None:
    records = [record for record in Store(runs_folder()).records() if record.status == "completed"]
    for study in ("one", "two"):
        write_records(tmp_path / "results" / study / "cpu" / "records.jsonl", records)
    assert ids("--source", "results") == "acb"


def test_a_setting_that_was_not_there_yet_had_its_default() -> None:
    config = {"model": {"position": "rope"}, "seed": 3}
    assert setting_at(config, "model.window") is None
    assert setting_at(config, "model.position_base") == 10000.0
    assert setting_at(config, "model.position_slopes") is INACTIVE
    assert setting_at(config, "evaluate.splits") == ["valid"]
    assert setting_at({"model": {"architecture": "rnn"}}, "model.heads") is INACTIVE


def test_every_setting_is_a_key() -> None:
    """Each can be asked for its default, and finds a run that has it."""
    config = {"seed": 1}
    run = Entry("x", "completed", None, Labels(), config, None, None)
    for path in leaves():
        value = setting_at(config, path)
        known = key(path, [run], "test")
        if value is INACTIVE:
            continue
        said = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        (condition,) = parse([f"{path}={said}"], [run])
        assert condition.holds(run), path
        assert known.kinds, path


def test_a_thousand_runs_are_listed_at_once_and_without_torch(repository: Path, shelf: Shelf) -> None:
    """Must answer in a second on an idle core. Measured as processor time, with room for a busy machine."""
    text = (runs_folder() / ROPE / "record.json").read_text(encoding="utf-8")
    point = {"update": 1, "valid_nll": 3.0, "train_nll": 3.0, "seconds": 1.0, "source_tokens": 1, "target_tokens": 1}
    record = {**json.loads(text), "curve": [point] * 50}
    for number in range(1000):
        folder = runs_folder() / f"{number:016x}"
        folder.mkdir()
        (folder / "record.json").write_text(json.dumps({**record, "id": folder.name}), encoding="utf-8")
    script = (
        "import sys; from ablatable.cli.main import app\n"
        "app(['runs', 'model.position=rope', 'model.d_k=64', '--sort', 'bleu'], standalone_mode=False)\n"
        "heavy = {'torch', 'pytorch_lightning', 'wandb', 'optuna', 'scipy', 'numpy', 'sacrebleu', 'matplotlib'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", script], cwd=repository, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert "1002 of 1005 runs" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3.0
