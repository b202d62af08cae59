"""Which runs need not train: only those whose weights are still there, or will be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ablatable.record.foreign import Origin, write_origin
from ablatable.record.schema import Record
from ablatable.record.store import Store
from ablatable.study.families import shared_trainings, trained_again
from ablatable.study.gather import expected

STUDY = """\
name: averages
title: Averages
baseline: base
columns:
  - {label: BLEU, metric: bleu}
rows:
  - {name: base}
  - {name: greedy, set: {decode.beam: 1}}
  - {name: mean-3, set: {train.average_last: 3, train.average_every: 100}}
  - {name: mean-2, set: {train.average_last: 2, train.average_every: 100}}
  - {name: best, set: {evaluate.checkpoint: best}}
"""

Rows = Callable[[], dict[str, tuple[str, Any]]]
Left = Callable[..., Record]


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rows:
    """Id and experiment of each row, by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ABLATABLE_RUNS", raising=False)
    (tmp_path / "ablations").mkdir()
    (tmp_path / "ablations" / "averages.yaml").write_text(STUDY, encoding="utf-8")
    return lambda: {row.row.name: (row.ids[0], row.experiments[0]) for row in expected("averages", "paper", 1).rows}


@pytest.fixture
def left(rows: Rows, tmp_path: Path, make_record: Callable[..., Record]) -> Left:
    """A finished run of a row, and what is in its ``checkpoints`` folder."""

    def leave(row: str, *files: str, **changes: Any) -> Record:
        record = make_record(rows()[row][1], "text", **changes)
        Store(tmp_path / "runs").write_record(record)
        folder = tmp_path / "runs" / record.id / "checkpoints"
        folder.mkdir()
        for name in files:
            (folder / name).touch()
        return record

    return leave


def trainers() -> dict[str, str]:
    """By name of the row, the row that trains for it, or the id of another table's run."""
    found = expected("averages", "paper", 1)
    names = {row.ids[0]: row.row.name for row in found.rows}
    shared = shared_trainings(found.rows, found.fingerprint, found.store)
    return {names[id]: names.get(trainer, trainer) for id, trainer in shared.items()}


def test_the_longest_average_trains_for_all_that_is_not_there_yet(rows: Rows) -> None:
    assert trainers() == dict.fromkeys(("base", "greedy", "mean-2", "best"), "mean-3")


def test_a_finished_training_serves_while_its_state_is_there(left: Left) -> None:
    averages = [f"average-{update}.pt" for update in (99_800, 99_900, 100_000)]
    left("mean-3", "evaluated.pt", "best.pt", "last.ckpt", *averages)
    assert trainers() == dict.fromkeys(("base", "greedy", "mean-2", "best"), "mean-3")


def test_of_a_finished_training_whose_state_is_gone_the_rest_trains_once_more(left: Left) -> None:
    """The best weights are always kept; the last and the parts of the average are not."""
    left("mean-3", "evaluated.pt", "best.pt")
    assert trainers() == {"best": "mean-3", "base": "mean-2", "greedy": "mean-2"}


def test_a_plan_prices_what_must_train_after_all(left: Left, invoke: Callable[..., str]) -> None:
    left("mean-3", "evaluated.pt", "best.pt")
    plan = json.loads(invoke("plan", "averages", "--scale", "paper", "--format", "json"))
    flops = {row["row"]: row["flops"] for row in plan["rows"]}
    assert [name for name, count in flops.items() if count] == ["mean-3", "mean-2"]
    assert plan["totals"]["to_do"]["flops"] == flops["mean-2"]
    assert {row["row"]: row["trained_by"] for row in plan["rows"]}["base"] == "mean-2"


def test_searches_of_one_row_are_served_by_the_weights_that_were_scored(left: Left) -> None:
    left("mean-3", "evaluated.pt", "best.pt")
    left("base", "evaluated.pt")
    assert trainers()["greedy"] == "base"


def test_a_run_that_ended_early_serves_with_the_checkpoints_it_made(left: Left) -> None:
    averages = ["average-100.pt", "average-150.pt"]
    left("mean-3", "evaluated.pt", "best.pt", "last.ckpt", *averages, updates=150)
    assert trainers()["mean-2"] == "mean-3"


def test_another_tables_run_serves_only_while_its_weights_are_there(left: Left, tmp_path: Path) -> None:
    record = left("greedy", "evaluated.pt")
    (tmp_path / "ablations" / "averages.yaml").write_text(STUDY.split("  - {name: greedy")[0], encoding="utf-8")
    assert trainers() == {"base": record.id}
    (tmp_path / "runs" / record.id / "checkpoints" / "evaluated.pt").unlink()
    assert trainers() == {}


def test_the_time_of_a_search_is_not_taken_for_that_of_a_training(
    left: Left, tmp_path: Path, invoke: Callable[..., str]
) -> None:
    """A row of which one seed only searched: its next seed trains, and takes as long as training takes."""
    record = left("base", "evaluated.pt", device_seconds=7.0)
    Store(tmp_path / "runs").write_record(replace(record, trained_by="f" * 16))
    (tmp_path / "ablations" / "averages.yaml").write_text(STUDY.split("  - {name: greedy")[0], encoding="utf-8")
    plan = json.loads(invoke("plan", "averages", "--scale", "paper", "--seeds", "2", "--format", "json"))
    assert plan["rows"][0]["seconds"] > 1000


def test_what_a_search_leaves_open_is_served_by_nobody(left: Left, tmp_path: Path) -> None:
    left("base", "evaluated.pt")
    study = (tmp_path / "ablations" / "averages.yaml").read_text().replace("name: averages", "name: tuned")
    (tmp_path / "ablations" / "tuned.yaml").write_text(
        f"{study}tuning: {{axes: [train.warmup], trials: 2, per: row}}\n"
    )
    shared, tuned = expected("averages", "paper", 1), expected("tuned", "paper", 1)
    assert shared_trainings(shared.rows, shared.fingerprint, shared.store)
    assert all(row.awaits for row in tuned.rows)
    assert not shared_trainings(tuned.rows, tuned.fingerprint, tuned.store), "their warm-up is not known yet"


def test_a_run_that_trains_again_beside_an_imported_one_is_named(left: Left, tmp_path: Path) -> None:
    record = left("mean-3")

    def again() -> dict[str, str]:
        found = expected("averages", "paper", 1)
        names = {row.ids[0]: row.row.name for row in found.rows}
        return {names[id]: trainer for id, trainer in trained_again(found.rows, found.fingerprint, found.store).items()}

    assert again() == {}, "its weights were deleted here, which is nobody's import"
    folder = tmp_path / "runs" / record.id
    write_origin(folder, Origin("ablatable", "records.jsonl", record.id, None, "d" * 16, "2026-01-01T00:00:00Z"))
    assert again() == {"mean-2": record.id}, "the others take the weights of this one"
    (folder / "checkpoints" / "evaluated.pt").touch()
    assert again() == {}, "trained here after all"
