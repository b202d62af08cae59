from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.locate import runs_folder
from ablatable.errors import InputError
from ablatable.record.store import Store
from ablatable.study.fingerprints import local_fingerprint, recorded_fingerprint
from ablatable.study.gather import expected
from ablatable.study.load import load_study
from ablatable.study.plan_text import duration, size
from ablatable.study.resolve import resolve

Invoke = Callable[..., str]
Plan = Callable[..., dict[str, Any]]


@pytest.fixture
def plan_json(invoke: Invoke) -> Plan:
    return lambda *words: json.loads(invoke("plan", *words, "--format", "json"))


def test_a_plan_without_corpus_or_runs(tiny: Path, plan_json: Plan) -> None:
    plan = plan_json("tiny", "--scale", "cpu", "--seeds", "2")
    assert not plan["provisional"], "the corpus of this scale is pinned in the catalogue"
    assert plan_json("tiny", "--scale", "paper")["provisional"]
    assert [row["changes"] for row in plan["rows"]] == [{}, {"model.heads": 1}, {"model.layers": 1}]
    totals = plan["totals"]
    assert totals["all"]["runs"] == totals["to_do"]["runs"] == totals["distinct_runs"] == 6
    assert totals["states"]["missing"] == 6
    assert totals["all"]["flops"] == pytest.approx(2 * sum(row["flops"] for row in plan["rows"]))
    assert totals["all"]["seconds"] == pytest.approx(2 * sum(row["seconds"] for row in plan["rows"]))
    assert totals["all"]["disk_bytes"] == 2 * sum(row["disk_bytes"] for row in plan["rows"])
    for row in plan["rows"]:
        assert row["seconds"] == pytest.approx(row["flops"] / plan["speed"]["flops_per_second"])
        assert not row["seconds_measured"]
        assert row["disk_bytes"] == 4 * row["parameters"]
    assert "stated, not measured" in plan["speed"]["basis"]
    assert not runs_folder().exists(), "a plan writes nothing"


def test_the_text_says_what_changes_and_what_the_time_is_based_on(tiny: Path, invoke: Invoke) -> None:
    text = invoke("plan", "tiny", "--scale", "cpu")
    assert "heads=1" in text
    assert "layers=1" in text
    assert "stated, not measured: 1 CPU thread" in text
    assert "run ids are provisional" in invoke("plan", "tiny", "--scale", "paper")
    assert max(len(line) for line in text.splitlines()) < 200


def test_finished_runs_set_the_speed(tiny: Path, plan_json: Plan, make_record: Any) -> None:
    experiments = resolve(load_study("tiny"), "cpu", 2, lambda _: None)
    store = Store(runs_folder())
    base, other = experiments[0].experiments
    store.write_record(make_record(base, "text", flops=2e12, device_seconds=100.0))
    store.write_record(make_record(other, "text", flops=2e12, device_seconds=50.0))
    plan = plan_json("tiny", "--scale", "cpu", "--seeds", "2")
    assert not plan["provisional"], "a record knows its corpus"
    assert plan["speed"]["measured"]
    assert "2 finished runs" in plan["speed"]["basis"]
    assert plan["speed"]["flops_per_second"] == pytest.approx(3e10)  # median of 2e10 and 4e10
    first, second, _ = plan["rows"]
    assert (first["seconds"], first["seconds_measured"]) == (75.0, True)
    assert second["seconds"] == pytest.approx(second["flops"] / 3e10)
    assert plan["totals"]["to_do"]["runs"] == 4
    assert plan["totals"]["states"]["completed"] == 2
    stated = plan_json("tiny", "--scale", "cpu", "--seeds", "2", "--device", "P100")
    assert not stated["speed"]["measured"]


def test_a_token_budget_caps_the_estimate(tiny: Path) -> None:
    from ablatable.config.load import load_experiment
    from ablatable.study.estimate import cost_of

    whole = cost_of(load_experiment("base"))
    half = cost_of(load_experiment("base", ["train.max_target_tokens=1250000000"]))
    doubled = cost_of(load_experiment("base", ["train.accumulate=2"]))
    assert half.flops == pytest.approx(whole.flops / 2)
    assert doubled.target_tokens == 2 * whole.target_tokens == 5_000_000_000


def test_an_unknown_device_or_seed_count_is_bad_input(tiny: Path, invoke: Invoke) -> None:
    with pytest.raises(InputError, match="unknown device 'P10'; did you mean 'P100'"):
        invoke("plan", "tiny", "--device", "P10")
    with pytest.raises(InputError, match="--seeds 0"):
        invoke("plan", "tiny", "--seeds", "0")


def test_plan_and_status_never_import_torch(repository: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from ablatable.cli.main import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "assert not {'torch', 'numpy', 'wandb', 'optuna', 'sentencepiece'} & set(sys.modules)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(repository / "src")}
    for words in (["plan", "table3", "--scale", "paper"], ["status", "table3"]):
        command = [sys.executable, "-c", script, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]


def test_recorded_fingerprints_answer_for_their_corpus_only(tiny: Path, make_record: Any) -> None:
    base = resolve(load_study("tiny"), "cpu", 1, lambda _: None)[0].experiments[0]
    paper = resolve(load_study("tiny"), "paper", 1, lambda _: None)[0].experiments[0]
    older = make_record(base, "old text", finished="2026-01-01T00:00:00Z")
    newer = make_record(base, "new text", finished="2026-02-01T00:00:00Z")
    for records in ([older, newer], [newer, older]):
        known = recorded_fingerprint(records)
        assert known(base.data) == "new text"
        assert known(paper.data) is None
    assert local_fingerprint(tiny.parent, lambda: [older])(base.data) == "old text"


def test_seeds_are_as_many_as_were_begun(tiny: Path, make_record: Any) -> None:
    rows = resolve(load_study("tiny"), "cpu", 3, lambda _: None)
    store = Store(runs_folder())
    store.write_record(make_record(rows[0].experiments[0], "text"))
    assert len(expected("tiny", "cpu", None).rows[0].ids) == 1
    store.write_record(make_record(rows[2].experiments[1], "text"))
    found = expected("tiny", "cpu", None)
    assert [row.seeds for row in found.rows] == [(1, 2)] * 3


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5 s"), (119, "119 s"), (600, "10 min"), (7199, "120 min"), (36000, "10 h"), (200_000, "2.3 days")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_sizes() -> None:
    assert [size(n) for n in (999, 6_578_176, 2.5e9, 3e12)] == ["999 B", "6.58 MB", "2.5 GB", "3 TB"]
