from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.locate import runs_folder
from ablatable.errors import InputError
from ablatable.record.events import EventWriter
from ablatable.record.store import EVENTS_FILE, Store
from ablatable.study.load import load_study
from ablatable.study.resolve import RowRuns, resolve

Told = Callable[..., str]


@pytest.fixture
def rows(tiny: Path) -> list[RowRuns]:
    return resolve(load_study("tiny"), "cpu", 2, lambda _: "text")


@pytest.fixture
def told(invoke: Callable[..., str]) -> Told:
    return lambda *words: invoke("status", "tiny", "--scale", "cpu", *words)


def test_every_state_is_told_with_its_cause(rows: list[RowRuns], make_record: Any, told: Told) -> None:
    store = Store(runs_folder())
    base, heads, layers = rows
    store.write_record(make_record(base.experiments[0], "text"))
    cause = "loss became NaN at update 12"
    store.write_record(make_record(heads.experiments[0], "text", status="failed", cause=cause))
    with EventWriter(store.folder(layers.ids[0]) / EVENTS_FILE) as events:
        events.write("start")
    with store.lock(base.ids[1]):
        text, status = told(), json.loads(told("--format", "json"))
    assert status["counts"] == {
        "completed": 1, "running": 1, "failed": 1, "pruned": 0, "interrupted": 1, "missing": 2
    }  # fmt: skip
    by_id = {run["id"]: run for run in status["runs"]}
    assert by_id[heads.ids[0]] == {
        "row": "h=1", "seed": 1, "id": heads.ids[0], "state": "failed", "cause": cause
    }  # fmt: skip
    assert by_id[base.ids[1]]["state"] == "running"
    assert by_id[layers.ids[0]]["state"] == "interrupted"
    assert "6 runs: 1 completed, 1 running, 1 failed, 1 interrupted, 2 missing" in text
    assert f"{heads.ids[0]}  h=1, seed 1: {cause}" in text
    assert "run again to resume" in text


def test_nothing_run_yet(rows: list[RowRuns], told: Told) -> None:
    assert "3 runs: 3 missing" in told()
    assert json.loads(told("--format", "json", "--seeds", "2"))["counts"]["missing"] == 6


def test_a_corrupted_record_is_named_and_not_counted_as_missing(
    rows: list[RowRuns], make_record: Any, told: Told
) -> None:
    store = Store(runs_folder())
    path = store.write_record(make_record(rows[0].experiments[0], "text"))
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    with pytest.raises(InputError, match=f"{rows[0].ids[0]}.*is not a readable record"):
        told()
