from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.layers import Setting
from ablatable.config.locate import runs_folder
from ablatable.errors import InputError, RunFailed
from ablatable.record.store import Store
from ablatable.report.render import files
from ablatable.report.table import build_table
from ablatable.study.gather import Gathered, from_results, from_runs
from ablatable.study.load import load_study
from ablatable.study.publish import publish
from ablatable.study.records_file import read_records, write_records
from ablatable.study.resolve import RowRuns, resolve, with_another_seed

NAMES = ["records.jsonl", "table.csv", "table.html", "table.md", "table.tex"]


@pytest.fixture
def rows(tiny: Path) -> list[RowRuns]:
    return resolve(load_study("tiny"), "cpu", 2, lambda _: "text")


@pytest.fixture
def finished(rows: list[RowRuns], make_record: Any) -> Store:
    """Seed 1 of every row, of which one failed."""
    store = Store(runs_folder())
    store.write_record(make_record(rows[0].experiments[0], "text", ppl=9.0, bleu=15.9))
    store.write_record(make_record(rows[1].experiments[0], "text", ppl=10.0, bleu=14.1))
    store.write_record(make_record(rows[2].experiments[0], "text", status="failed", cause="loss became NaN"))
    return store


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def tables(gathered: Gathered) -> dict[str, str]:
    return files(build_table(gathered.study, gathered.rows, gathered.records.values(), gathered.scale))


def test_what_is_published(finished: Store, tmp_path: Path) -> None:
    done = publish("tiny", "cpu")
    assert done.folder == Path("results/tiny/cpu")
    published = contents(tmp_path / "results" / "tiny" / "cpu")
    assert list(published) == NAMES
    assert (done.records, done.expected) == (3, 3)
    assert done.remarks == ("hole: N=2, seed 1: failed: loss became NaN",)
    lines = published["records.jsonl"].decode().splitlines()
    ids = [json.loads(line)["id"] for line in lines]
    assert ids == sorted(finished.ids())
    assert b"15.9" in published["table.md"]
    assert b"loss became NaN" in published["table.md"]


def test_publishing_twice_changes_no_byte(finished: Store, tmp_path: Path) -> None:
    publish("tiny", "cpu")
    first = contents(tmp_path / "results" / "tiny" / "cpu")
    publish("tiny", "cpu")
    assert contents(tmp_path / "results" / "tiny" / "cpu") == first


def test_results_alone_give_the_same_table(finished: Store, tmp_path: Path) -> None:
    """No runs folder and no corpus: ids come from the fingerprint the records carry."""
    publish("tiny", "cpu")
    here = tables(from_runs("tiny", "cpu"))
    shutil.rmtree(runs_folder())
    there = tables(from_results("tiny", "cpu"))
    assert there == here
    for name, text in there.items():
        assert (tmp_path / "results" / "tiny" / "cpu" / name).read_bytes() == text.encode()


def test_records_from_another_machine_stay(finished: Store, rows: list[RowRuns], make_record: Any) -> None:
    publish("tiny", "cpu")
    shutil.rmtree(runs_folder())
    Store(runs_folder()).write_record(make_record(rows[0].experiments[1], "text", bleu=16.1))
    done = publish("tiny", "cpu")
    assert (done.records, done.expected) == (4, 6)
    kept = sorted(row.ids[0] for row in rows)
    assert f"kept as published before, not in the runs folder here: {', '.join(kept)}" in done.remarks
    assert "hole: h=1, seed 2: not run yet" in done.remarks
    assert set(from_results("tiny", "cpu").records) == {*kept, rows[0].ids[1]}


def test_a_record_repeated_here_replaces_the_published_one(
    finished: Store, rows: list[RowRuns], make_record: Any
) -> None:
    publish("tiny", "cpu")
    finished.write_record(make_record(rows[2].experiments[0], "text", bleu=11.7))
    assert publish("tiny", "cpu").remarks == ()
    assert from_results("tiny", "cpu").records[rows[2].ids[0]].metric("valid.bleu") == 11.7


def test_rows_the_study_lost_are_dropped_aloud(finished: Store, rows: list[RowRuns], tiny: Path) -> None:
    publish("tiny", "cpu")
    text = tiny.read_text(encoding="utf-8")
    tiny.write_text(text[: text.index("  - name: N=2")], encoding="utf-8")
    done = publish("tiny", "cpu")
    assert done.remarks == (f"dropped, no longer in the table: {rows[2].ids[0]}",)
    assert set(from_results("tiny", "cpu").records) == {rows[0].ids[0], rows[1].ids[0]}


def test_records_of_another_release_of_the_corpus_are_not_replaced_unasked(
    finished: Store, tiny: Path, tmp_path: Path, make_record: Any
) -> None:
    publish("tiny", "cpu")
    before = contents(tmp_path / "results" / "tiny" / "cpu")
    shutil.rmtree(runs_folder())
    newer = resolve(load_study("tiny"), "cpu", 1, lambda _: "newer text")
    finished.write_record(make_record(newer[0].experiments[0], "newer text", ppl=8.0, finished="2026-02-02T03:04:05Z"))
    with pytest.raises(RunFailed, match=r"another release of lohelp-en-de \(text\).*move the folder away"):
        publish("tiny", "cpu")
    assert contents(tmp_path / "results" / "tiny" / "cpu") == before


def test_the_largest_seed_has_no_successor(tiny: Path, make_record: Any) -> None:
    last = resolve(load_study("tiny"), "cpu", 1, lambda _: "text", overrides={"seed": Setting(2**31 - 1, "test")})
    assert with_another_seed(last[0], lambda _: "text") == last[0]
    with pytest.raises(InputError, match="--seeds 2: seed=2147483647"):
        resolve(load_study("tiny"), "cpu", 2, lambda _: "text", overrides={"seed": Setting(2**31 - 1, "test")})


def test_nothing_to_publish_is_a_failure_that_writes_nothing(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="ablatable run tiny --scale cpu"):
        publish("tiny", "cpu")
    assert not (tmp_path / "results").exists()
    with pytest.raises(InputError, match="nothing is published for tiny at scale cpu"):
        from_results("tiny", "cpu")


def test_a_damaged_published_record_names_its_line(finished: Store, tmp_path: Path) -> None:
    publish("tiny", "cpu")
    path = tmp_path / "results" / "tiny" / "cpu" / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:50] + b"\n" + lines[2])
    for read in (lambda: from_results("tiny", "cpu"), lambda: publish("tiny", "cpu")):
        with pytest.raises(InputError, match=r"records.jsonl:2 is not a readable record.*restore the file"):
            read()
    path.write_bytes(lines[0] + lines[0])
    with pytest.raises(InputError, match=r"records.jsonl:2: run \w+ is there twice"):
        from_results("tiny", "cpu")


def test_records_keep_every_bit_and_odd_text(rows: list[RowRuns], make_record: Any, tmp_path: Path) -> None:
    odd = make_record(rows[0].experiments[0], "text", status="failed", cause="line\u2028one\nzwei “ß”", flops=1 / 3)
    path = tmp_path / "records.jsonl"
    write_records(path, [odd])
    assert path.read_bytes().count(b"\n") == 1
    assert read_records(path) == {odd.id: odd}


def test_the_command_prints_what_it_did(finished: Store, invoke: Callable[..., str]) -> None:
    text = invoke("publish", "tiny", "--scale", "cpu")
    assert "published 3 of 3 runs in results/tiny/cpu/" in text
    assert "hole: N=2, seed 1: failed: loss became NaN" in text
    said = json.loads(invoke("publish", "tiny", "--scale", "cpu", "--format", "json"))
    assert said["files"] == ["records.jsonl", "table.md", "table.tex", "table.csv", "table.html"]
