"""Whole runs in trackers: what W&B and TensorBoard read back, also after a kill, and that tracking changes nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import TINY, Run, Stopped, numbers, tiny_job
from wandb_files import file_of, history, of_type, records, summary

from ablatable.config.runtime import Tracking
from ablatable.launch.executed import execute
from ablatable.record.events import read_events
from ablatable.record.schema import Labels, Record
from ablatable.tracking.curves import Curves, Point
from ablatable.tracking.describe import Card
from ablatable.tracking.tracker import Final
from ablatable.tracking.wandb_run import WandbTracker
from ablatable.training import keeper
from ablatable.training.checkpoint import load_weights


def points(folder: Path) -> list[dict[str, Any]]:
    """What the ledger says a tracker shows."""
    return [point.axes | point.values for point in Curves().take(read_events(folder / "events.jsonl"))]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Path]:
    """One run of a study with both trackers, as the launcher calls it."""
    root = tmp_path_factory.mktemp("shown")
    words = ["tracking.wandb=offline", "tracking.tensorboard=true", "model.heads=2", "train.learning_rate_factor=9"]
    job = tiny_job(root / "runs", root / "cache", *words, "train.validate_every=6", study="tiny")
    job = replace(job, labels=Labels("tiny", "two-heads", "cpu"), changed=("model.heads",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(root / "home"))
        record = execute(job)
    assert not (root / "home" / ".local").exists(), "what is to be uploaded lies beside the run"
    return record, job.folder


def test_wandb_knows_whose_run_it_is_and_all_its_settings(shown: tuple[Record, Path]) -> None:
    record, folder = shown
    found = records(file_of(folder))
    run = of_type(found, "run")[0]
    assert run["run_id"] == record.id
    assert run["run_group"] == "tiny"
    assert run["display_name"] == "two-heads/1"
    assert run["job_type"] == "train"
    assert run["tags"] == ["cpu", "synthetic-copy", "transformer", "model.heads"]
    config = run["config"]["update"]
    assert {section: config[section] for section in record.config} == json.loads(json.dumps(record.config))
    assert config["run"] == {"id": record.id, "study": "tiny", "row": "two-heads", "scale": "cpu"}
    assert config["code"]["commit"] == record.stamp.git_commit
    assert config["code"]["digest"] == record.stamp.code_digest


def test_wandbs_curves_are_the_ledgers_each_with_every_axis(shown: tuple[Record, Path]) -> None:
    _, folder = shown
    found = records(file_of(folder))
    rows = [row for row in history(found) if "update" in row]
    assert rows == points(folder)
    # A validation every 6 of 24 updates, each right after a report of training; a slow machine reports in between.
    validated = [row["update"] for row in rows if "valid/nll" in row]
    assert validated == [6, 12, 18, 24]
    assert {row["update"] for row in rows if "train/loss" in row} >= set(validated)
    assert all(row.keys() >= {"update", "source_tokens", "target_tokens", "seconds"} for row in rows)
    defined = {metric["name"]: metric for metric in of_type(found, "metric")}
    assert defined["valid/nll"]["step_metric"] == defined["train/loss"]["step_metric"] == "update"
    assert {"source_tokens", "target_tokens"} <= defined.keys()


def test_wandbs_summary_is_the_record_and_the_best_of_the_curve(shown: tuple[Record, Path]) -> None:
    record, folder = shown
    told = summary(records(file_of(folder)))
    for name, metric in record.metrics.items():
        assert told[name] == pytest.approx(metric.value), name
    for name in ("parameters", "flops", "updates", "target_tokens", "wall_seconds", "status"):
        assert told[name] == getattr(record, name), name
    losses = [point.valid_nll for point in record.curve if point.valid_nll is not None]
    assert min(losses) < losses[-1], "or best and last could not be told apart"
    assert told["valid/nll"] == {"min": min(losses)}
    assert told["best.nll"] == min(losses)
    assert told["best.update"] == record.curve[losses.index(min(losses))].update


def test_wandb_shows_sentences_a_picture_and_the_record(shown: tuple[Record, Path]) -> None:
    _, folder = shown
    file = file_of(folder)
    (path,) = file.parent.glob("files/media/table/hypotheses/valid_*.table.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    assert table["columns"] == ["sentence", "source", "reference", "hypothesis"]
    said = (folder / "hypotheses.valid.txt").read_text(encoding="utf-8").splitlines()
    assert [row[3] for row in table["data"]] == said[:20]
    assert [row[0] for row in table["data"]] == list(range(12))
    (picture,) = file.parent.glob("files/media/images/attention/cross_*.png")
    assert picture.read_bytes() == (folder / "analysis" / "tracked" / "attention-cross.png").read_bytes()
    artifacts = of_type(records(file), "artifact")
    (kept,) = [one for one in artifacts if one["type"] == "record"]
    assert kept["manifest"]["contents"][0]["local_path"] == str(folder / "record.json")
    assert of_type(records(file), "exit")[0].get("exit_code", 0) == 0


def test_an_end_that_cannot_be_shown_leaves_no_open_run(shown: tuple[Record, Path], tmp_path: Path) -> None:
    tracker = WandbTracker(Card("0" * 16, "row/1", None, (), {}), Tracking(), tmp_path)
    tracker.open()
    tracker.log([Point(0, {"update": 1.0}, {"train/loss": 2.0})])
    with pytest.raises(ValueError, match="missing"):
        tracker.close(Final(shown[0], tmp_path / "missing.json"))
    found = records(file_of(tmp_path))
    assert [row["train/loss"] for row in history(found)] == [2.0]
    assert of_type(found, "exit"), "an online run would be shown as running for ever"


def test_tensorboard_has_curves_settings_and_final_metrics(shown: tuple[Record, Path]) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2

    record, folder = shown
    read = EventAccumulator(str(folder / "tensorboard"))
    read.Reload()
    nlls = [(event.step, event.value) for event in read.Scalars("valid/nll")]
    assert nlls == [(p.update, pytest.approx(p.valid_nll)) for p in record.curve]
    assert read.Scalars("valid.ppl")[0].value == pytest.approx(record.metrics["valid.ppl"].value)
    assert read.Scalars("target_tokens")[-1].value == record.target_tokens
    contents = read.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    settings = plugin_data_pb2.HParamsPluginData.FromString(contents).session_start_info.hparams
    assert settings["model.heads"].number_value == 2
    assert settings["data.corpus"].string_value == "synthetic-copy"
    assert read.Tags()["images"] == ["attention/cross"]
    assert "hypotheses/valid/text_summary" in read.Tags()["tensors"]


@pytest.mark.parametrize("words", [["tracking.wandb=offline"], ["tracking.tensorboard=true"]])
def test_tracking_changes_nothing_of_a_run(run: Run, words: list[str]) -> None:
    off, folder = run("train.updates=8")
    tracked, other = run("train.updates=8", *words, root="tracked")
    assert not (folder / "wandb").exists()
    assert not (folder / "tensorboard").exists()
    assert (other / "wandb").exists() is ("tracking.wandb=offline" in words)
    assert off.id == tracked.id
    assert numbers(off) == numbers(tracked)
    weights, others = (load_weights(f / "checkpoints" / "evaluated.pt") for f in (folder, other))
    assert all(weights[name].equal(others[name]) for name in weights)
    assert (folder / "hypotheses.valid.txt").read_bytes() == (other / "hypotheses.valid.txt").read_bytes()


def test_a_resumed_run_shows_each_update_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt dies after an update that its checkpoint does not have."""
    done = 0
    validate = keeper.Keeper._validate

    def validate_and_stop(self: keeper.Keeper, *arguments: Any) -> Any:
        nonlocal done
        done += 1
        found = validate(self, *arguments)
        if done == 2:
            raise Stopped
        return found

    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_validate", validate_and_stop)
        with pytest.raises(Stopped):
            run("tracking.wandb=offline")
    _, folder = run("tracking.wandb=offline")
    updates = [event["update"] for event in read_events(folder / "events.jsonl") if event["kind"] == "valid"]
    assert updates == [8, 16, 16, 24]
    rows = [row for row in history(records(file_of(folder))) if "valid/nll" in row]
    assert [row["update"] for row in rows] == [8, 16, 24]


KILLED = """
import sys
from pathlib import Path
import wandb, wandb.apis.public, wandb.sdk.launch  # as the launcher's server has it
from tiny_runs import tiny_job
from ablatable.training.run import execute
root = Path(sys.argv[1])
execute(tiny_job(root / "runs", root / "cache", *sys.argv[2:]))
"""


@pytest.mark.slow
def test_a_killed_wandb_run_keeps_all_but_the_last_second(tmp_path: Path, repository: Path) -> None:
    """SIGKILL to the run's whole process group, as the kernel or a batch system does it; nothing is run afterwards."""
    words = [*(word for word in TINY if not word.startswith(("train.updates", "train.validate", "tracking")))]
    words += ["train.updates=100000", "train.validate_every=20", "model.dropout=0.0", "tracking.wandb=offline"]
    folders = os.pathsep.join(str(repository / name) for name in ("src", "tests/integration"))
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path), *words],
        # A client that some process above left in the environment is nothing to this run.
        env={**os.environ, "PYTHONPATH": folders, "WANDB_SERVICE": f"3-{os.getpid()}-unix-{tmp_path}/socket"},
        start_new_session=True,
    )
    try:
        ledger = wait_for_ledger(tmp_path, 4, process)
        wait_for_wandb(ledger.parent)
        started = len(read_events(ledger))
        time.sleep(4)
        assert process.poll() is None
        clients = children(process.pid)
    finally:
        killed = time.time()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert clients == ["wandb-core"], "one process beside the run"
    events = read_events(ledger)
    assert len(events) > started
    safe = [event for event in events if event["time"] < killed - 1.0]
    rows = history(records(file_of(ledger.parent)))
    expected = [point.axes | point.values for point in Curves().take(safe)]
    assert len(expected) >= 4
    assert rows[: len(expected)] == expected


def children(pid: int) -> list[str]:
    """Names of the processes that a process has started and that are still there."""
    numbers = [number for path in Path(f"/proc/{pid}/task").glob("*/children") for number in path.read_text().split()]
    return [Path(f"/proc/{number}/comm").read_text().strip() for number in numbers]


def wait_for_ledger(root: Path, validations: int, process: subprocess.Popen[bytes]) -> Path:
    """Until the run has validated so often."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert process.poll() is None, "the run has ended"
        for ledger in root.glob("runs/*/events.jsonl"):
            if sum(event["kind"] == "valid" for event in read_events(ledger)) >= validations:
                return ledger
        time.sleep(0.1)
    raise AssertionError("no validation")


def wait_for_wandb(folder: Path) -> None:
    """Until the client has started: importing and starting it takes seconds, and this test is of what follows."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        files = list((folder / "wandb").glob("offline-run-*/run-*.wandb"))
        if files and history(records(files[0])):
            return
        time.sleep(0.2)
    raise AssertionError("W&B did not start")
