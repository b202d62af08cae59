"""`ablatable wandb`: a study's table as a run, runs made anew, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tiny_runs import Run
from typer.testing import CliRunner
from wandb_files import file_of, history, of_type, records, summary

from ablatable.cli.main import app
from ablatable.errors import InputError
from ablatable.record.events import EventWriter, read_events
from ablatable.report.make import table_of
from ablatable.report.values import columns, rows
from ablatable.tracking.rebuild import rebuild


def test_a_studys_table_is_a_run_of_its_group(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    answers = [CliRunner().invoke(app, ["wandb", "table", "demo", "--scale", "demo-toy"]) for _ in range(2)]
    assert [answer.exit_code for answer in answers] == [0, 0], answers[0].output
    (folder,) = (tmp_path / "runs" / ".tables").iterdir()
    assert f"wandb sync {file_of(folder).parent}" in answers[1].output
    found = records(file_of(folder))
    run = of_type(found, "run")[0]
    assert (run["run_group"], run["job_type"], run["tags"]) == ("demo", "table", ["demo-toy"])
    (path,) = file_of(folder).parent.glob("files/media/table/table_*.table.json")
    shown = json.loads(path.read_text(encoding="utf-8"))
    made = table_of("demo", "demo-toy", None)
    assert shown["columns"] == columns(made)
    assert shown["data"] == [list(row) for row in rows(made)]
    assert shown["data"][0][:4] == ["", "base", "2", "8"]
    (page,) = file_of(folder).parent.glob("files/media/html/page_*.html")
    assert page.read_text(encoding="utf-8") == (folder / "table.html").read_text(encoding="utf-8")
    kept = [one for one in of_type(found, "artifact") if one["type"] == "table"]
    assert {entry["path"] for entry in kept[0]["manifest"]["contents"]} == {
        f"table.{x}" for x in ("md", "tex", "csv", "html")
    }


def test_values_of_a_published_table_are_numbers(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    made = table_of("demo", "demo", None, "results")
    names, lines = columns(made), rows(made)
    assert all(len(line) == len(names) for line in lines)
    base, other = lines[0], lines[1]
    ppl = names.index("valid.ppl")
    assert isinstance(base[ppl], float)
    assert isinstance(other[ppl], float)
    assert other[names.index("valid.ppl.delta")] == pytest.approx(other[ppl] - base[ppl])
    assert base[names.index("valid.ppl.paper")] == 4.92
    assert not any(isinstance(value, float) and math.isnan(value) for line in lines for value in line)


def test_a_run_that_was_not_tracked_is_made_from_its_ledger(run: Run, cache: Path) -> None:
    record, folder = run("train.updates=8", "train.validate_every=4", study="tiny")
    made = rebuild(folder, cache)
    assert made == file_of(folder).parent
    found = records(file_of(folder))
    assert [row["update"] for row in history(found) if "valid/nll" in row] == [4, 8]
    assert summary(found)["valid.ppl"] == pytest.approx(record.metrics["valid.ppl"].value)
    assert of_type(found, "run")[0]["run_group"] == "tiny"


def test_a_run_without_a_record_has_its_labels_from_its_ledger(run: Run, cache: Path) -> None:
    _, folder = run("train.updates=4", "train.validate_every=2", study="tiny")
    (folder / "record.json").unlink()
    assert read_events(folder / "events.jsonl")[0]["labels"] == {"study": "tiny", "row": "row", "scale": None}
    rebuild(folder, cache)
    found = records(file_of(folder))
    assert of_type(found, "run")[0]["display_name"] == "row/1"
    assert [row["update"] for row in history(found) if "valid/nll" in row] == [2, 4]
    assert of_type(found, "exit")[0]["exit_code"] == 1


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with EventWriter(tmp_path / "x" / "events.jsonl") as events:
        events.write("start", updates=1)
    with pytest.raises(InputError, match=r"has no config\.yaml and events\.jsonl; name the folder of a run"):
        rebuild(tmp_path / "x", tmp_path)


@pytest.mark.parametrize("words", [["report", "demo"], ["table", "demo", "--scale", "demo-toy", "--online"]])
def test_what_needs_an_account_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    answer = CliRunner().invoke(app, ["wandb", *words])
    assert isinstance(answer.exception, InputError)
    assert "needs a login; run `wandb login`, or" in str(answer.exception)
