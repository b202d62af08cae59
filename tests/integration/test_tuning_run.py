"""A tuned table as a person runs it: real processes, real (very small) trainings, killed in mid-search."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import alive, environment, light_command, processes, table_lines, until

from ablatable.record.schema import Record
from ablatable.record.store import Store

STUDY = """
name: tiny
title: Tiny
baseline: tested
split: test
tuning:
  axes: [{train.learning_rate_factor: {low: 0.5, high: 20.0, log: true}}]
  trials: 4
  sampler: {kind: tpe, startup: 2}
columns:
  - {label: h, path: model.heads}
  - {label: PPL, metric: ppl, digits: 3, better: lower}
rows:
  - {name: base}
  - {name: one-head, set: {model.heads: 1}}
"""
TESTED = "title: scores the test set\nextends: base\nevaluate: {splits: [valid, test]}\n"
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
  train.batch_tokens: 512
  train.updates: 60
  train.warmup: 20
  train.validate_every: 20
  evaluate.sentences: 10
  runtime.save_seconds: 0.2
  tracking.wandb: "off"
"""


class Workspace:
    """A folder with a tuned study and a scale of its own."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self._cache = cache
        (folder / "ablations").mkdir(parents=True)
        (folder / "experiments" / "scales").mkdir(parents=True)
        (folder / "ablations" / "tiny.yaml").write_text(STUDY)
        (folder / "experiments" / "tested.yaml").write_text(TESTED)
        (folder / "experiments" / "scales" / "tiny.yaml").write_text(SCALE)

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            light_command(*words),
            cwd=self.folder,
            env=environment(self._cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str, code: int = 0) -> tuple[str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=580)
        assert process.returncode == code, err
        return out, err

    def run(self) -> tuple[str, str]:
        return self.call("run", "tiny", "--scale", "tiny")

    def lines(self) -> list[dict[str, Any]]:
        """The trials of both searches, without what the machine's speed changes."""
        files = sorted(self.runs.glob("sweeps/*/trials.jsonl"))
        found = [json.loads(line) for path in files for line in path.read_text().splitlines()]
        return [{name: value for name, value in line.items() if name != "device_seconds"} for line in found]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Workspace, str, str]:
    """A tuned table that was never stopped, and what its run printed."""
    workspace = Workspace(tmp_path_factory.mktemp("whole") / "w", cache)
    return (workspace, *workspace.run())


@pytest.mark.slow
def test_every_row_is_searched_before_its_seeds_run_and_the_test_set_is_scored_by_these_alone(
    whole: tuple[Workspace, str, str],
) -> None:
    workspace, out, err = whole
    assert "searching the settings of 2 rows, 4 trials each" in err
    assert err.index("8 runs to do") < err.index("2 runs to do")
    assert "tuned per row, 4 trials" in out
    records = {record.id: record for record in Store(workspace.runs).records()}
    lines = workspace.lines()
    assert [line["row"] for line in lines] == ["base"] * 4 + ["one-head"] * 4
    searched = {id for line in lines for id in line["runs"]}
    assert len(searched) == 8
    assert not any(_scores_test(records[id]) for id in searched)
    final = [record for record in records.values() if record.id not in searched]
    assert sorted(str(record.labels.row) for record in final) == ["base", "one-head"]
    for record in final:
        own = [line for line in lines if line["row"] == record.labels.row]
        best = min(own, key=lambda line: line["value"])
        assert _scores_test(record)
        assert record.tuned is not None
        assert (record.tuned.search, record.tuned.trial, record.tuned.trials) == (best["search"], best["number"], 4)
        assert record.tuned.settings == best["point"]
        assert record.config["train"]["learning_rate_factor"] == best["point"]["train.learning_rate_factor"]
        assert record.trained_by == best["runs"][0], "the winner's weights need not be trained again"


def _scores_test(record: Record) -> bool:
    return any(name.startswith("test.") for name in record.metrics)


@pytest.mark.slow
def test_a_second_run_starts_nothing(whole: tuple[Workspace, str, str]) -> None:
    workspace, out, _ = whole
    before = processes(workspace.runs)
    assert workspace.run() == (out, "tiny at scale tiny: 2 completed\n")
    assert processes(workspace.runs) == before


@pytest.mark.slow
def test_killed_twice_in_mid_search_it_ends_with_the_same_trials_and_table(
    whole: tuple[Workspace, str, str], cache: Path, tmp_path: Path
) -> None:
    """Once among the points that are drawn at random, once among those that depend on what came before."""
    expected, out, _ = whole
    broken = Workspace(tmp_path / "w", cache)
    for ended in (1, 5):
        runner = broken.start("run", "tiny", "--scale", "tiny")
        assert until(lambda ended=ended: _ended(broken) >= ended and _training(broken), 240)
        children = psutil.Process(runner.pid).children(recursive=True)
        runner.send_signal(signal.SIGKILL)
        runner.communicate()
        assert until(lambda children=children: not any(alive(child) for child in children), 10)
        told = json.loads(broken.call("status", "tiny", "--scale", "tiny", "--format", "json")[0])
        assert {one["state"] for one in told["searches"]} <= {"interrupted", "finished", "missing"}
        holes = broken.call("table", "tiny", "--scale", "tiny", "--format", "csv")[0]
        assert "not tuned yet" in holes
    again, _ = broken.run()
    assert broken.lines() == expected.lines()
    assert table_lines(again) == table_lines(out)


def _ended(workspace: Workspace) -> int:
    return sum(line["state"] == "completed" for line in workspace.lines())


def _training(workspace: Workspace) -> bool:
    """Whether some run is in its training: it has a checkpoint and no record."""
    return any(
        not (path.parents[1] / "record.json").exists() for path in workspace.runs.glob("*/checkpoints/last.ckpt")
    )


@pytest.mark.slow
def test_published_with_its_trials_it_is_checked_without_runs(
    whole: tuple[Workspace, str, str], cache: Path, tmp_path: Path
) -> None:
    workspace, out, _ = whole
    copy = Workspace(tmp_path / "w", cache)
    shutil.copytree(workspace.runs, copy.runs)
    assert "trials.jsonl" in copy.call("publish", "tiny", "--scale", "tiny")[0]
    shutil.rmtree(copy.runs)
    assert copy.call("table", "tiny", "--scale", "tiny", "--check")[0].count("equals its records") == 4
    assert copy.call("table", "tiny", "--scale", "tiny", "--source", "results")[0] == out
