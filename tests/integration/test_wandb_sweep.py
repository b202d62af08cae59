"""Sweeps of W&B's: the exported command as its agent calls it, and its file run here without a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import LIGHT, environment, light_command, processes
from tiny_runs import TINY
from wandb.wandb_agent import Agent
from wandb_files import history, of_type, records, summary
from wandb_server import ENTITY, KEY, serving

from ablatable.record.store import Store

WANDB = [sys.executable, "-P", "-m", "wandb"]
"""W&B's command line, of this environment whatever the path says; not a folder `wandb` of the place it is called in."""

SWEEP: dict[str, Any] = {
    "name": "tiny",
    "title": "Rate and embedding dropout",
    "experiment": "tiny",
    "fixed": {"evaluate.splits": ["valid"], "model.causal": True},
    "space": {
        "train.learning_rate_factor": {"low": 0.00001, "high": 1.0, "log": True},
        "model.dropout_embedding": {"values": [None, 0.1]},
    },
    "objectives": [{"metric": "nll"}],
    "sampler": {"kind": "random"},
    "budget": {"trials": 4},
}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tiny experiment, a sweep of it, and `ablatable` on the path."""
    folder = tmp_path / "w"
    for name in ("experiments", "sweeps", "bin"):
        (folder / name).mkdir(parents=True)
    words = (word.split("=", 1) for word in TINY if not word.startswith("tracking"))
    settings = "".join(f"{path}: {value}\n" for path, value in words)
    (folder / "experiments" / "tiny.yaml").write_text(f"title: tiny\nextends: base\n{settings}")
    (folder / "sweeps" / "tiny.yaml").write_text(yaml.safe_dump(SWEEP, sort_keys=False))
    (folder / "light.py").write_text(LIGHT)
    program = folder / "bin" / "ablatable"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "$(cat {folder}/light.py)" "$@"\n')
    program.chmod(0o755)
    for name, value in environment(tmp_path / "cache").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return folder


def call(*words: str, code: int = 0) -> str:
    """The command line; what it printed, of a failure its complaint."""
    answer = subprocess.run(light_command(*words), capture_output=True, text=True, timeout=280, check=False)
    assert answer.returncode == code, answer.stderr
    return answer.stdout if code == 0 else answer.stderr


class Agents:
    """W&B's own agent, told by us what its server would tell it."""

    def __init__(self, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WANDB_SWEEP_ID", "sweepid1")
        monkeypatch.delenv("WANDB_DIR")
        for name in ("WANDB_RUN_ID", "WANDB_SWEEP_PARAM_PATH"):
            monkeypatch.setenv(name, "")  # the agent sets them for good; the fixture takes them back
        self._agent = Agent(api=None, queue=None, sweep_id="sweepid1")
        self._agent._sweep_command = config["command"]
        self._program = config["program"]

    def run(self, id: str, **values: Any) -> int:
        """Have it run one point as `id`; its process's exit code."""
        args = {path: {"value": value} for path, value in values.items()}
        command = {"type": "run", "run_id": id, "program": self._program, "args": args}
        answer = self._agent._process_command(command)
        assert "exception" not in answer, answer
        return self._agent._run_processes[id].wait(timeout=280)


def shown(folder: Path, id: str) -> list[dict[str, Any]]:
    (file,) = folder.glob(f"runs/*/wandb/offline-run-*-{id}/run-{id}.wandb")
    return records(file)


def curves(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in history(found) if "update" in row]


@pytest.mark.slow
def test_wandbs_agent_drives_the_exported_command(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("sweep", "export", "tiny", "--to", "wandb", "--output", "exported.yaml")
    agents = Agents(yaml.safe_load(Path("exported.yaml").read_text()), monkeypatch)
    point = {
        "evaluate.splits": ["valid"],
        "model.causal": True,
        "train.learning_rate_factor": 1e-05,
        "model.dropout_embedding": None,
    }
    assert agents.run("agentrun1", **point) == 0

    (record,) = Store(workspace / "runs").records()
    assert record.status == "completed"
    assert record.config["train"]["learning_rate_factor"] == 1e-05
    assert record.config["model"].get("dropout_embedding") is None
    found = shown(workspace, "agentrun1")
    (run,) = of_type(found, "run")[:1]
    assert run["run_id"] == "agentrun1", "the sweep waits for this one"
    assert run["sweep_id"] == "sweepid1"
    config = run["config"]["update"]
    assert config["run"]["id"] == record.id, "our own identity stays"
    assert config["train"]["learning_rate_factor"] == config["train.learning_rate_factor"] == 1e-05
    assert summary(found)["valid.nll"] == pytest.approx(record.metrics["valid.nll"].value)
    assert [row["update"] for row in history(found) if "valid/nll" in row] == [8, 16, 24]

    assert agents.run("agentrun2", **point) == 0
    assert processes(workspace / "runs") == 1, "the record was there"
    again = shown(workspace, "agentrun2")
    assert of_type(again, "run")[0]["run_id"] == "agentrun2", "but the sweep waits for a run of its own"
    assert summary(again)["valid.nll"] == summary(found)["valid.nll"]
    assert curves(again) == curves(found)

    assert agents.run("agentrun3", **{**point, "model.heads": 3}) == 2, "what is impossible fails at once"


@pytest.mark.slow
def test_a_wandb_file_runs_without_a_server_and_is_synced_later(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {
        "program": "ablatable",
        "name": "Someone's sweep",
        "method": "bayes",
        "project": "theirs",
        "metric": {"name": "valid/nll", "goal": "minimize"},
        "run_cap": 3,
        "early_terminate": {"type": "hyperband", "min_iter": 9, "eta": 2},
        "parameters": {
            "train": {"parameters": {"learning_rate_factor": {"min": 0.5, "max": 5.0}}},
            "model.heads": {"values": [2, 4]},
            "train.warmup": {"value": 10},
        },
        "command": ["${env}", "${program}", "train", "tiny", "tracking.wandb=online", "${args_no_hyphens}"],
    }
    Path("someones.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    here = ("--from-wandb", "someones.yaml")
    assert json.loads(call("sweep", "plan", *here, "--format", "json"))["trials"] == 3

    # Optuna's Gaussian process is of torch, as the page on sweeps says: the runner may load it here.
    words = [sys.executable, "-c", "from ablatable.cli.main import main; main()", "sweep", "run", *here]
    subprocess.run([*words, "--workers", "1"], check=True, timeout=280)
    told = json.loads(call("sweep", "status", *here, "--format", "json"))
    assert (told["sweep"], told["counts"]["completed"]) == ("someones", 3)
    best = json.loads(call("sweep", "best", *here, "--format", "json"))[0]
    assert best["point"].keys() == {"train.learning_rate_factor", "model.heads"}
    assert "history.png" in call("sweep", "plot", *here)
    ids = {run for trial in told["trials"] for run in trial["runs"]}
    assert len(ids) == 3
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.address)
        subprocess.run([*WANDB, "sync", *workspace.glob("runs/*/wandb/offline-run-*")], check=True, timeout=280)
    assert {(name, run.project, run.group) for name, run in server.runs.items()} == {
        (id, "theirs", "someones") for id in ids
    }
    for trial in told["trials"]:
        (id,) = trial["runs"]
        assert server.runs[id].summary["valid.nll"] == pytest.approx(trial["values"][0])
        (run,) = of_type(shown(workspace, id), "run")[:1]
        assert (run["run_group"], run["project"]) == ("someones", "theirs"), "one group, for `wandb sync`"
        assert run["config"]["update"]["train"]["warmup"] == 10


@pytest.mark.slow
def test_a_whole_sweep_online_with_wandbs_own_commands(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {**SWEEP, "name": "grid", "sampler": {"kind": "grid"}, "pruner": {"kind": "asha", "first": 16}}
    grid["space"] = {"train.learning_rate_factor": {"values": [1.0, 0.5]}}
    Path("sweeps/grid.yaml").write_text(yaml.safe_dump(grid, sort_keys=False))
    call("sweep", "export", "grid", "--to", "wandb", "--output", "exported.yaml")
    monkeypatch.setenv("HOME", str(workspace / "home"))
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.delenv("WANDB_MODE")
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.address)
        subprocess.run([*WANDB, "sweep", "exported.yaml"], check=True, timeout=60)
        subprocess.run([*WANDB, "agent", f"{ENTITY}/ablatable/sweep1"], check=True, timeout=280)
    assert server.refused == []
    found = {record.id: record for record in Store(workspace / "runs").records()}
    assert len(found) == 2
    for name in ("agents0", "agents1"):
        run = server.runs[name]
        record = found.pop(run.config["run"]["id"])
        assert (run.sweep, run.project, run.exit_code) == ("sweep1", "ablatable", 0)
        assert run.config["train"]["learning_rate_factor"] == run.config["train.learning_rate_factor"]
        assert run.summary["valid.nll"] == pytest.approx(record.metrics["valid.nll"].value)
        validated = [row["valid/nll"] for row in run.history if "valid/nll" in row]
        assert validated == pytest.approx([point.valid_nll for point in record.curve], rel=1e-5)
        assert any(file.startswith("media/images/attention/cross") for file in run.uploaded)


@pytest.mark.slow
def test_online_without_a_login_is_one_sentence(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("NETRC", str(workspace / "netrc"))
    answer = call("train", "tiny", "tracking.wandb=online", code=2)
    assert answer.splitlines()[-1] == (
        "error: tracking.wandb=online needs a login; run `wandb login`, or set tracking.wandb=offline"
    )
    changed = {**SWEEP, "fixed": {"tracking.wandb": "online"}}
    Path("sweeps/tiny.yaml").write_text(yaml.safe_dump(changed, sort_keys=False))
    answer = call("sweep", "run", "tiny", "--workers", "1", code=2)
    assert answer.splitlines()[-1].startswith("error: tracking.wandb=online needs a login; run `wandb login`")
    assert "Traceback" not in answer
    assert not list(workspace.glob("runs/*/record.json"))
