"""`ablatable table`, from the records of a real study on disk to what a person or a script is given."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from table_bench import STAMP
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.config.dump import to_dict
from ablatable.config.locate import runs_folder
from ablatable.errors import InputError, RunFailed
from ablatable.record.schema import CurvePoint, Labels, Metric, Record
from ablatable.record.store import Store, encode_record
from ablatable.study.load import load_study
from ablatable.study.publish import publish
from ablatable.study.resolve import resolve
from ablatable.study.schema import RowRuns

PRINT = STAMP.corpus_fingerprint


def _record(runs: RowRuns, index: int, curve: int = 0) -> Record:
    experiment = runs.experiments[index]
    reported = runs.row.reported
    return Record(
        id=runs.ids[index],
        labels=Labels("table3", runs.row.name, "cpu"),
        seed=experiment.seed,
        config=to_dict(experiment),
        status="completed",
        cause=None,
        metrics={
            "valid.ppl": Metric(2 * reported["ppl"] + experiment.seed / 100, "perplexity/piece"),
            "valid.bleu": Metric(reported["bleu"] - 10 + experiment.seed / 10, "BLEU"),
        },
        curve=[CurvePoint(i, 3.0, 3.0, float(i), i, i) for i in range(curve)],
        parameters=1_234_567,
        source_tokens=1000,
        target_tokens=1000,
        updates=100,
        flops=1e12,
        wall_seconds=36.0,
        device_seconds=36.0,
        peak_memory_bytes=2**29,
        stamp=replace(STAMP, corpus=experiment.data.corpus),
    )


def _train(seeds: int = 1, curve: int = 0, rows: slice = slice(None)) -> int:
    """Leave the records that `ablatable run table3 --scale cpu` would; returns how many."""
    store = Store(runs_folder())
    resolved = resolve(load_study("table3"), "cpu", seeds, lambda data: PRINT)
    records = [_record(runs, i, curve) for runs in resolved[rows] for i in range(seeds)]
    for record in records:  # not through the store, which waits for the disk each time
        folder = store.folder(record.id)
        folder.mkdir(parents=True)
        (folder / "record.json").write_text(encode_record(record), encoding="utf-8")
    return len(records)


def _table(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["table", "table3", "--scale", "cpu", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with nothing published in it."""
    monkeypatch.chdir(tmp_path)


def test_nothing_trained_is_a_table_of_holes() -> None:
    text = _table()
    assert text.count("not run yet") == 1
    assert "No run has completed yet." in text


def test_all_twenty_rows_in_the_papers_order_with_its_values() -> None:
    _train()
    made = json.loads(_table("--format", "json"))
    rows = [row for block in made["blocks"] for row in block["rows"]]
    assert [block["label"] for block in made["blocks"]] == ["", "(A)", "(B)", "(C)", "(D)", "(E)", ""]
    assert [len(block["rows"]) for block in made["blocks"]] == [1, 4, 2, 7, 4, 1, 1]
    assert rows[0]["cells"][1]["paper"] == 25.8
    assert rows[-1]["cells"][0]["best"] is True
    one_head = rows[1]["cells"]
    assert one_head[0]["difference"]["value"] == pytest.approx(2 * (5.29 - 4.92))
    assert one_head[0]["agreement"] == {"verdict": "same", "why": None, "tested": False}


def test_seeds_are_those_there_are() -> None:
    _train(seeds=2)
    assert "±" in _table()
    assert "1 planned a row" in _table("--seeds", "1")
    assert "2 of 3" in _table("--seeds", "3")


def test_published_tables_are_checked_against_their_records(tmp_path: Path) -> None:
    _train()
    publish("table3", "cpu")
    folder = tmp_path / "results" / "table3" / "cpu"
    assert _table("--check").count("equals its records") == 4
    assert (folder / "table.md").read_text(encoding="utf-8") == _table("--source", "results")
    changed = (folder / "table.tex").read_text(encoding="utf-8").replace("24.9", "29.9")
    (folder / "table.tex").write_text(changed, encoding="utf-8")
    with pytest.raises(RunFailed, match=r"table\.tex differs from its records"):
        _table("--check")


def test_a_fresh_clone_shows_what_is_published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _train()
    publish("table3", "cpu")
    trained = _table()
    monkeypatch.setenv("ABLATABLE_RUNS", str(tmp_path / "no-runs"))
    assert _table() == trained
    assert "No run has completed yet." in _table("--source", "runs")


def test_files_are_written_where_asked(tmp_path: Path) -> None:
    _train(rows=slice(0, 3))
    _table("--format", "md,csv", "--out", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["table.csv", "table.md"]
    assert (tmp_path / "out" / "table.md").read_text(encoding="utf-8") == _table()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "md,tex"], "--out"),
        (["--format", "pdf"], "unknown format 'pdf'"),
        (["--source", "results"], "nothing is published for table3 at scale cpu"),
        (["--check"], "nothing is published for table3 at scale cpu"),
        (["--check", "--seeds", "2"], "leave out --seeds, --source and --out"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _table(*arguments)


def test_a_table_of_a_thousand_records_takes_about_a_second_and_no_torch(repository: Path) -> None:
    """Must reach: under 1 s on an idle core. Measured as processor time, with room for a busy machine."""
    assert _train(seeds=50, curve=50) == 1000
    script = (
        "import sys; from ablatable.cli.main import app\n"
        "app(['table', 'table3', '--scale', 'cpu'], standalone_mode=False)\n"
        "heavy = {'torch', 'pytorch_lightning', 'wandb', 'optuna', 'scipy', 'jinja2', 'matplotlib'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", script], cwd=repository, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert "50 planned a row" in done.stdout
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 3.0
