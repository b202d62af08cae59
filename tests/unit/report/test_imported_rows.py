"""Imported runs in tables, lists and comparisons: shown with their mark, never ranked, tested or taken for ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from run_shelf import Shelf
from table_bench import Bench
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.config.locate import cache_folder
from ablatable.errors import InputError
from ablatable.record.foreign import ForeignRecord, Origin, foreign_id, write_foreign
from ablatable.record.schema import CurvePoint, Labels, Metric
from ablatable.record.store import Store
from ablatable.report.markdown import render
from ablatable.report.model import Table
from ablatable.report.table import build_table
from ablatable.study.gather import expected
from ablatable.study.load import load_study
from ablatable.study.schema import Row

STUDY = """
name: lab
title: A lab's table
baseline: base
scales: [seconds]
columns:
  - {label: N, path: model.layers}
  - {label: BLEU, metric: bleu, better: higher}
rows:
  - {name: base}
  - {name: old, imported: true}
"""

SCALE = """
title: seconds
set:
  data.corpus: synthetic-copy
"""


def foreign(row: str = "old", seed: int = 1, bleu: float = 90.0, study: str = "tiny") -> ForeignRecord:
    return ForeignRecord(
        id=foreign_id(study, row, seed),
        labels=Labels(study, row, None),
        seed=seed,
        origin=Origin("wandb", "run-x.wandb", "base run", "0.31.0", "d" * 16, "2026-01-01T00:00:00Z"),
        config={"model": {"heads": 16}},
        told={"h": 16},
        status="completed",
        cause=None,
        metrics={"valid.bleu": Metric(bleu, "BLEU"), "valid.nll": Metric(2.0, "nats/token")},
        curve=[CurvePoint(10, 3.0), CurvePoint(20, 2.0)],
        updates=20,
    )


def table(*records: ForeignRecord) -> Table:
    bench = Bench()
    bench.row("base", bleu={1: 20.0, 2: 21.0, 3: 22.0})
    bench.row("two", bleu={1: 23.0, 2: 24.0, 3: 25.0})
    study = replace(bench.study, rows=(*bench.study.rows[:1], Row("old", imported=True), *bench.study.rows[1:]))
    return build_table(study, bench.runs, bench.records, "cpu", imported={"old": records})


def test_imported_row_is_marked_and_has_no_rank_difference_or_test() -> None:
    made = table(foreign(bleu=90.0), foreign(seed=2, bleu=92.0))
    assert [row.name for row in made.rows] == ["base", "old", "two"], "in the place the study gives it"
    old = made.rows[1]
    assert old.title == "old (imported)"
    assert old.settings == ("16", "?"), "what was told, and a mark for what was not: blank would mean as the base"
    bleu = old.cells[1]
    assert bleu.sample is not None
    assert (bleu.sample.mean, bleu.sample.n, bleu.best, bleu.difference) == (91.0, 2, False, None)
    assert made.rows[2].cells[1].best, "the best of ours, though the imported one is higher"
    assert ("a", "imported from W&B 0.31.0 (base run), settings not verified") in made.notes
    assert "(imported): taken from the logs of another tool" in made.footnotes[-1]
    assert "6 runs," in " ".join(made.footnotes), "an imported run is none of those that were trained"


def test_table_without_imported_rows_says_nothing_of_them() -> None:
    bench = Bench()
    bench.row("base", bleu={1: 20.0})
    assert "imported" not in render(bench.table())


def test_row_without_an_import_is_a_hole_with_the_command_that_fills_it() -> None:
    made = table()
    assert made.rows[1].cells[1].hole == "missing"
    assert any("ablatable import SOURCE --study tiny --row old" in text for _, text in made.notes)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ABLATABLE_RUNS", raising=False)
    Path("ablations").mkdir()
    Path("ablations/lab.yaml").write_text(STUDY, encoding="utf-8")
    Path("experiments/scales").mkdir(parents=True)
    Path("experiments/scales/seconds.yaml").write_text(SCALE, encoding="utf-8")
    return tmp_path


def printed(*words: str) -> str:
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stdout


def test_imported_run_is_nobodys_finished_run(workspace: Path) -> None:
    before = expected("lab", None, 1)
    write_foreign(Path("runs"), foreign("base", study="lab"))
    write_foreign(Path("runs"), foreign("old", study="lab"))
    after = expected("lab", None, 1)
    assert after.unfinished == before.unfinished == {id for row in after.rows for id in row.ids}
    assert [row.row.name for row in after.rows] == ["base"], "nothing is trained for an imported row"
    assert Store(Path("runs")).records() == []
    status = json.loads(printed("status", "lab", "--format", "json"))
    assert status["counts"]["missing"] == 1
    assert [(one["row"], one["seed"]) for one in status["imported"]] == [("old", 1)]
    assert "90.00" not in printed("table", "lab").split("old (imported)")[0], "the row of that name is ours to train"


def test_row_is_either_imported_or_has_settings(workspace: Path) -> None:
    text = STUDY.replace("imported: true", "imported: true, set: {model.layers: 3}")
    Path("ablations/lab.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"lab.yaml:11: row 'old' is imported"):
        load_study("lab")


def test_list_shows_it_as_imported_and_knows_only_what_was_told(workspace: Path) -> None:
    write_foreign(Path("runs"), foreign("old", study="lab"))
    listed = json.loads(
        printed("runs", "--format", "json", "--columns", "status,row,seed,bleu,model.heads,model.layers,origin")
    )
    assert listed["runs"] == [
        {
            "status": "imported",
            "row": "old",
            "seed": 1,
            "valid.bleu": 90.0,
            "model.heads": 16,
            "model.layers": None,
            "origin": "W&B 0.31.0 (base run)",
        }
    ]
    assert "not verified" in listed["notes"][0]
    assert json.loads(printed("runs", "model.layers=6", "--format", "json"))["runs"] == [], (
        "a default is no setting of it"
    )


def test_comparison_gives_no_difference_and_no_test(workspace: Path) -> None:
    shelf = Shelf(Path("runs"), cache_folder())
    shelf.run("a" * 16, metrics={"valid.bleu": 20.0}, curve=[(10, 3.0)])
    write_foreign(Path("runs"), foreign("old", study="lab"))
    made = json.loads(printed("compare", "aaaa", "lab/old", "--format", "json"))
    assert made["columns"][1]["status"] == "imported"
    assert "imported from W&B 0.31.0 (base run)" in made["notes"][0]
    assert all(line["differences"] == [None, None] for line in made["metrics"])
    assert made["tests"] == []
    assert {line["path"] for line in made["settings"]} == {"model.heads"}, "what was not told does not differ"


def test_published_table_has_its_imports_in_a_file_of_their_own(workspace: Path) -> None:
    shelf = Shelf(Path("runs"), cache_folder())
    (base,) = expected("lab", None, 1).rows[0].ids
    shelf.run(base, metrics={"valid.bleu": 20.0})
    write_foreign(Path("runs"), foreign("old", study="lab"))
    printed("publish", "lab")
    folder = Path("results/lab/seconds")
    assert len((folder / "records.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert "old (imported)" in (folder / "table.md").read_text(encoding="utf-8")
    Path("runs").rename("runs of another machine")
    assert "equals its records" in printed("table", "lab", "--check")
    listed = json.loads(printed("runs", "--source", "results", "--format", "json"))["runs"]
    assert sorted(run["status"] for run in listed) == ["completed", "imported"]
    assert "imported from" in printed("compare", "lab/base", "lab/old", "--source", "results", "--parts", "metrics")
