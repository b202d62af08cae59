"""The command that trains every value of the design space, and what it calls a fault."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import every_value
import pytest
import yaml
from every_value import Value, faults
from tiny_runs import Run

from ablatable.config.dump import to_dict
from ablatable.record.schema import Record
from ablatable.study.load import load_study
from ablatable.study.resolve import resolve


@pytest.fixture(scope="module")
def axes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What `ablatable axes --format json` prints."""
    return json.loads(every_value.ablatable("axes", "--format", "json", folder=tmp_path_factory.mktemp("axes")))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `ablatable axes --format study` prints."""
    return yaml.safe_load(every_value.ablatable("axes", "--format", "study", folder=tmp_path_factory.mktemp("study")))


def resolved(study: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """The settings of each row that mean something, by name; raises where a row is refused or changes nothing."""
    path = folder / f"{study['name']}.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    runs = resolve(load_study(path), "paper", 1, lambda data: None)
    return {row.row.name: to_dict(row.experiments[0]) for row in runs}


def test_every_row_of_the_printed_study_is_possible_at_paper_size(printed: dict[str, Any], tmp_path: Path) -> None:
    assert len(resolved(printed, tmp_path)) == len(printed["rows"]) > 100


def test_every_value_is_in_a_row(axes: list[dict[str, Any]], printed: dict[str, Any], tmp_path: Path) -> None:
    """A value without a row, or a row that is refused, shows here before anything is trained."""
    wanted = every_value.values(axes)
    rows = resolved(every_value.study(printed, wanted), tmp_path)
    assert [str(value) for value in wanted if not any(value.in_(config) for config in rows.values())] == []
    assert {"model.position=rope", "model.causal=false", "tokenizer.size=37000", "model.d_k=null"} <= set(
        map(str, wanted)
    )
    assert len(wanted) > 200


def test_a_truth_value_is_no_number() -> None:
    """decode.beam=1 is not an answer to whether model.causal=true was run."""
    assert Value("model.causal", True).in_({"model": {"causal": True}})
    assert not Value("model.causal", True).in_({"model": {"causal": 1}})
    assert not Value("decode.beam", 1).in_({"decode": {"beam": True}})
    assert not Value("model.rnn_cell", "lstm").in_({"model": {"architecture": "transformer"}})


@pytest.fixture
def sound(run: Run) -> Record:
    record, _ = run("train.updates=50", "train.validate_every=50", study="every-value")
    return record


def test_what_counts_as_a_fault(sound: Record) -> None:
    wanted = [Value("model.heads", 4), Value("model.d_ff", 64)]
    unlike = replace(sound, config={})
    short = replace(sound, updates=49)
    failed = replace(sound, status="failed", cause="out of memory")
    lost = replace(sound, curve=[replace(sound.curve[-1], train_nll=math.inf)])
    unscored = replace(sound, metrics={})

    def found(*records: Record) -> list[str]:
        return list(faults(wanted, {"row": sound.id}, {record.id: record for record in records}))

    assert found(sound) == []
    assert found(unlike) == ["model.heads=4: in no sound run", "model.d_ff=64: in no sound run"]
    assert found()[0] == "row: no record"
    assert found(short)[0] == "row: 49 updates, not 50"
    assert found(failed)[0] == "row: failed: out of memory"
    for record in (lost, unscored):
        assert found(record)[0].startswith("row: losses that are not all finite")
        assert found(record)[1:] == found(unlike), "a faulty run is no proof of its values"


@pytest.mark.slow
def test_every_value_trains(tmp_path: Path) -> None:
    """Issue 3: 50 updates of each on synthetic-copy through the real command line, with a finite loss."""
    script = Path(every_value.__file__)
    done = subprocess.run(
        [sys.executable, str(script), "--folder", str(tmp_path / "every")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "every value trained" in done.stdout
