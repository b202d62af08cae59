"""`ablatable sweep` as a person uses it: real processes, real (very small) trainings."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import environment, light_command, processes

from ablatable.record.events import read_events
from ablatable.record.store import Store
from ablatable.study.records_file import read_records

SCALE = """
title: seconds
set:
  model.layers: 1
  model.d_model: 32
  model.d_ff: 64
  data.corpus: synthetic-copy
  data.train_pairs: 2000
  data.max_length: 20
  tokenizer.size: 48
  train.batch_tokens: 256
  train.updates: 300
  train.validate_every: 30
  evaluate.sentences: 10
  tracking.wandb: "off"
"""
SWEEP = """
name: tiny
title: Rate and width
experiment: base
scale: tiny
space:
  train.learning_rate_factor: {values: [1.0, 0.7, 0.001]}
  model.heads: {values: [4, 3]}
objectives:
  - {metric: nll}
sampler: {kind: grid}
pruner: {kind: median, startup: 2}
"""


class Workspace:
    """A folder with a sweep and a scale of its own, as a user would have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sweeps").mkdir(parents=True)
        (folder / "experiments" / "scales").mkdir(parents=True)
        (folder / "sweeps" / "tiny.yaml").write_text(SWEEP)
        (folder / "experiments" / "scales" / "tiny.yaml").write_text(SCALE)

    def call(self, *words: str, code: int = 0) -> str:
        answer = subprocess.run(
            light_command(*words),
            cwd=self.folder,
            env=environment(self.folder / "cache"),
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert answer.returncode == code, answer.stderr
        return answer.stdout if code == 0 else answer.stderr

    def logs(self) -> int:
        """Processes that ever ran one of the runs."""
        return processes(self.folder / "runs")


@pytest.mark.slow
def test_a_sweep_from_the_plan_to_the_best_experiment(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    planned = json.loads(workspace.call("sweep", "plan", "tiny", "--format", "json"))
    assert (planned["points"], planned["trials"], len(planned["impossible"])) == (6, 3, 3)
    assert "was never run here" in workspace.call("sweep", "status", "tiny", code=2)

    told: dict[str, Any] = json.loads(workspace.call("sweep", "run", "tiny", "--workers", "1", "--format", "json"))
    assert told["exit_code"] == 0
    assert told["counts"] == {
        "completed": 2, "running": 0, "waiting": 0, "pruned": 1, "failed": 0, "skipped": 3,
    }  # fmt: skip
    states = {(trial["point"]["train.learning_rate_factor"], trial["point"]["model.heads"]): trial["state"]
              for trial in told["trials"]}  # fmt: skip
    assert states[0.001, 4] == "pruned", "a real run heard the pruner"
    _check_the_pruned_run(workspace, told)

    assert workspace.logs() == 3
    again = json.loads(workspace.call("sweep", "run", "tiny", "--format", "json"))
    assert again["trials"] == told["trials"]
    assert workspace.logs() == 3, "nothing was trained again"
    assert json.loads(workspace.call("sweep", "status", "tiny", "--format", "json"))["trials"] == told["trials"]
    assert "2 completed, 1 pruned, 3 skipped" in workspace.call("sweep", "status", "tiny")

    (best,) = json.loads(
        workspace.call("sweep", "best", "tiny", "--output", "experiments/tuned.yaml", "--format", "json")
    )
    record = json.loads(workspace.call("train", "tuned", "--format", "json"))
    assert [record["id"]] == best["runs"], "the file that was written is that very run"
    assert record["metrics"]["valid.nll"]["value"] == best["values"]["valid.nll"]
    assert workspace.logs() == 3
    assert "is there already" in workspace.call(
        "sweep", "best", "tiny", "--trial", str(_other(told, best)), "--output", "experiments/tuned.yaml", code=2
    )

    drawn = [Path(line) for line in workspace.call("sweep", "plot", "tiny").splitlines()]
    assert {path.name for path in drawn} >= {"history.png", "history.svg", "slice.png", "slice.svg"}
    assert all((workspace.folder / path).stat().st_size > 1000 for path in drawn)
    before = {path: (workspace.folder / path).read_bytes() for path in drawn}
    workspace.call("sweep", "plot", "tiny")
    assert {path: (workspace.folder / path).read_bytes() for path in drawn} == before, "byte for byte"
    _check_what_is_published(workspace, told)


def _check_what_is_published(workspace: Workspace, told: dict[str, Any]) -> None:
    said = workspace.call("sweep", "publish", "tiny")
    assert "published 6 trials in results/sweeps/tiny/" in said
    folder = workspace.folder / "results" / "sweeps" / "tiny"
    assert {line.strip() for line in said.splitlines()[1:]} == {path.name for path in folder.iterdir()}
    records = read_records(folder / "records.jsonl")
    assert len(records) == 3
    published = json.loads((folder / "trials.json").read_text())
    assert published["counts"] == {"completed": 2, "pruned": 1, "skipped": 3}
    assert published["best"] == told["best"]
    values = [trial["values"]["valid.nll"] for trial in published["trials"] if trial["state"] == "completed"]
    assert values == [trial["values"][0] for trial in told["trials"] if trial["state"] == "completed"]
    listed = list(csv.DictReader((folder / "trials.csv").read_text().splitlines()))
    assert [line["state"] for line in listed] == [trial["state"] for trial in told["trials"]]
    table = (folder / "trials.md").read_text().splitlines()
    first = next(line for line in table if line.startswith("| ") and "completed" in line)
    assert first.split("|")[1].strip() == f"{told['best'][0]} (best)", "the best comes first"
    (shared,) = [line for line in table if line.startswith("- Every trial:")]
    assert "model.layers=1" in shared
    assert "learning_rate_factor" not in shared, "what is searched is in the trials"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    workspace.call("sweep", "publish", "tiny")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before, "byte for byte"
    shown = json.loads(workspace.call("runs", "--source", "results", "--format", "json"))["runs"]
    assert records.keys() == {run["id"] for run in shown}
    gone = workspace.folder / "runs" / next(iter(published["trials"]))["runs"][0]
    (gone / "record.json").rename(gone / "record.aside")
    assert "has no record any more" in workspace.call("sweep", "publish", "tiny", code=1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before, "nothing is lost"
    (gone / "record.aside").rename(gone / "record.json")


def _check_the_pruned_run(workspace: Workspace, told: dict[str, Any]) -> None:
    (pruned,) = [trial for trial in told["trials"] if trial["state"] == "pruned"]
    store = Store(workspace.folder / "runs")
    record = store.read(pruned["runs"][0])
    assert record is not None
    assert (record.status, record.cause, record.metrics) == ("pruned", pruned["cause"], {})
    assert record.updates < 300
    assert store.status(record.id).state == "pruned"
    folder = store.folder(record.id)
    assert not (folder / "checkpoints" / "last.ckpt").exists(), "it is not to be resumed"
    assert not (folder / "prune.json").exists()
    assert '"finish"' in (folder / "events.jsonl").read_text()
    assert read_events(folder / "events.jsonl")[0]["changed"] == ["train.learning_rate_factor", "model.heads"]


def _other(told: dict[str, Any], best: dict[str, Any]) -> int:
    return next(
        trial["number"]
        for trial in told["trials"]
        if trial["state"] == "completed" and trial["number"] != best["number"]
    )


@pytest.mark.slow
def test_bad_input_exits_with_two_and_a_sentence(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    assert "did you mean 'tiny'" in workspace.call("sweep", "run", "tyny", code=2)
    answer = workspace.call("sweep", "run", "tiny", "--storage", "postgresql+psycopg://a:b@127.0.0.1:9/c", code=2)
    assert answer.startswith("error: --storage postgresql+psycopg://a:***@127.0.0.1:9/c: cannot be used")
    assert "Traceback" not in answer
    sweep = workspace.folder / "sweeps" / "tiny.yaml"
    sweep.write_text(SWEEP.replace("model.heads: {values: [4, 3]}", "model.heads: {values: [4, 0]}"))
    assert "sweeps/tiny.yaml:8: model.heads=0 is not possible" in workspace.call("sweep", "run", "tiny", code=2)
    assert not (workspace.folder / "runs").exists()
