"""Rows whose weights another run trained, and runs that ended early: what the table says of cost, code and averages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from table_bench import STAMP, Bench

from ablatable.record.schema import Code, Metric, Record
from ablatable.report.model import Table
from ablatable.study.schema import Column

SECONDS = Column("s", metric="device_seconds", digits=0, better="lower")
FLOPS = Column("FLOPs", metric="flops", digits=0)
OLD = Code("f" * 40, None, "0ldc0de00ldc0de0")


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.columns = (SECONDS, FLOPS)
    return bench


def change(bench: Bench, row: str, **changes: Any) -> None:
    """Say something else on the records of a row."""

    def changed(record: Record) -> Record:
        return replace(record, **changes) if record.labels.row == row else record

    bench.records = [changed(record) for record in bench.records]


def follow(bench: Bench, row: str, code: Code | None) -> None:
    change(bench, row, trained_by=bench.records[0].id, trainer_code=code, device_seconds=1.0)


def notes(table: Table, row: str) -> list[str]:
    texts = dict(table.notes)
    return [texts[marker] for one in table.rows if one.name == row for marker in one.markers]


def provenance(table: Table) -> str:
    return next(note for note in table.footnotes if "Trained by" in note)


def test_a_run_that_only_searched_has_no_cost_to_show_and_is_never_the_cheapest(bench: Bench) -> None:
    bench.row("base", {1: 20.0, 2: 20.0, 3: 20.0})
    bench.row("greedy", {1: 20.0, 2: 20.0, 3: 20.0})
    bench.row("h=4", {1: 20.0, 2: 20.0, 3: 20.0})
    change(bench, "h=4", device_seconds=30.0)
    follow(bench, "greedy", STAMP.code)
    table = bench.table()
    seconds = {row.name: row.cells[0] for row in table.rows}
    assert seconds["greedy"].sample is None
    assert seconds["greedy"].hole == "not measured"
    assert [name for name, cell in seconds.items() if cell.best] == ["h=4"]
    assert {row.cells[1].sample.mean for row in table.rows if row.cells[1].sample} == {1e12}, "FLOPs are the trainer's"
    assert notes(table, "greedy") == [
        "took the weights of another run: device_seconds would be of search and scoring alone, and is not shown"
    ]
    assert not notes(table, "h=4")


def test_of_seeds_that_trained_and_seeds_that_did_not_the_first_are_shown(bench: Bench) -> None:
    bench.row("base", {1: 20.0, 2: 20.0, 3: 20.0})
    bench.row("greedy", {1: 20.0, 2: 20.0, 3: 20.0})
    second = bench.records[4]
    bench.records[4] = replace(second, trained_by=bench.records[1].id, device_seconds=1.0)
    table = bench.table()
    sample = table.rows[1].cells[0].sample
    assert sample is not None
    assert (sample.mean, sample.n) == (36.0, 2)
    assert notes(table, "greedy")[0].startswith("seed 2 took the weights of another run")


def test_provenance_names_the_code_that_trained(bench: Bench) -> None:
    bench.row("base", {1: 20.0})
    bench.row("greedy", {1: 20.0})
    follow(bench, "greedy", OLD)
    note = provenance(bench.table())
    assert (
        "Trained by code 00aa11bb22cc33dd (1 runs); 0ldc0de00ldc0de0 (1 runs), commit 0123456789ab; ffffffffffff."
        in note
    )
    assert "1 of the runs searched with weights that another run trained, with code 00aa11bb22cc33dd." in note
    assert "Rows were trained by different versions of the code." in note


def test_a_search_by_later_code_is_no_other_training(bench: Bench) -> None:
    bench.row("base", {1: 20.0})
    bench.row("greedy", {1: 20.0}, stamp={"code_digest": "1a7er"})
    follow(bench, "greedy", STAMP.code)
    note = provenance(bench.table())
    assert "Trained by code 00aa11bb22cc33dd, commit 0123456789ab." in note
    assert "1 of the runs searched with weights that another run trained, with code 1a7er." in note
    assert "different versions" not in note


def test_an_older_record_does_not_know_which_code_trained_it(bench: Bench) -> None:
    bench.row("base", {1: 20.0})
    bench.row("greedy", {1: 20.0}, stamp={"code_digest": "1a7er"})
    follow(bench, "greedy", None)
    assert "Trained by code 00aa11bb22cc33dd (1 runs); not recorded (1 runs), commit 0123456789ab; not recorded." in (
        provenance(bench.table())
    )


def test_a_run_that_ended_early_says_so(bench: Bench) -> None:
    bench.row("base", {1: 20.0, 2: 20.0, 3: 20.0})
    cause = "stopped early at update 60 of 100: no better nll in 3 validations since update 30"
    bench.records[1] = replace(bench.records[1], cause=cause, updates=60)
    assert notes(bench.table(), "base") == [f"seed 2 {cause}"]


def averaging(record: Record, asked: int, made: float) -> Record:
    config = {**record.config, "train": {**record.config["train"], "average_last": asked}}
    return replace(
        record, config=config, metrics={**record.metrics, "averaged_checkpoints": Metric(made, "checkpoints")}
    )


@pytest.mark.parametrize(
    ("made", "said"), [(5.0, []), (2.0, ["seed 1 averages 2 checkpoints, not 5: training ended after 100 updates"])]
)
def test_an_average_of_fewer_checkpoints_than_asked_for_says_so(bench: Bench, made: float, said: list[str]) -> None:
    bench.row("base", {1: 20.0, 2: 20.0, 3: 20.0})
    bench.records[0] = averaging(bench.records[0], 5, made)
    assert notes(bench.table(), "base") == said
