"""`ablatable run` as a person uses it: real processes, real (very small) trainings."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import alive, environment, light_command, processes, table_lines, until

from ablatable.launch.guard import only_runner
from ablatable.record.schema import Record
from ablatable.record.store import Store

STUDY = """
name: tiny
title: Tiny
baseline: base
split: valid
columns:
  - {label: h, path: model.heads}
  - {label: PPL, metric: ppl, digits: 3, better: lower}
rows:
  - {name: base}
  - {name: one-head, set: {model.heads: 1}}
"""

DIVERGING = """\
  - name: diverging
    note: a unit that is never active has no gradient, and Adam without memory or epsilon divides zero by zero
    set:
      train.learning_rate_factor: 1000.0
      train.warmup: 1
      train.beta1: 0.0
      train.beta2: 0.0
      train.adam_epsilon: 1.0e-60
"""

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
  train.updates: UPDATES
  train.validate_every: 20
  evaluate.sentences: 10
  runtime.save_seconds: 0.5
  tracking.wandb: "off"
"""


class Workspace:
    """A folder with a study and a scale of its own, as a user would have."""

    def __init__(self, folder: Path, cache: Path, updates: int, study: str = STUDY) -> None:
        self.folder = folder
        self._cache = cache
        (folder / "ablations").mkdir(parents=True)
        (folder / "experiments" / "scales").mkdir(parents=True)
        (folder / "ablations" / "tiny.yaml").write_text(study)
        (folder / "experiments" / "scales" / "tiny.yaml").write_text(SCALE.replace("UPDATES", str(updates)))

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            light_command("run", "tiny", "--scale", "tiny", *words),
            cwd=self.folder,
            env=environment(self._cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=240)
        return process.returncode, out, err

    def logs(self) -> int:
        """Processes that ever ran one of the runs."""
        return processes(self.runs)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def numbers(record: Record) -> dict[str, Any]:
    """What must not depend on whether a run was ever stopped."""
    return {
        "metrics": record.metrics,
        "curve": [(point.update, point.valid_nll, point.train_nll) for point in record.curve],
        "tokens": (record.source_tokens, record.target_tokens),
        "updates": record.updates,
        "row": record.labels.row,
    }


@pytest.mark.slow
def test_a_first_run_trains_and_a_second_trains_nothing_and_prints_the_same(tmp_path: Path, shared_cache: Path) -> None:
    workspace = Workspace(tmp_path / "w", shared_cache, updates=40)
    code, out, err = workspace.run()
    assert code == 0, err
    assert "2 runs to do, " in err
    assert "tiny at scale tiny: 2 completed" in err
    assert [line.split("|")[1].strip() for line in table_lines(out)][2:] == ["base", "one-head"]
    began = time.monotonic()
    again = workspace.run()
    assert time.monotonic() - began < 5
    assert again == (0, out, "tiny at scale tiny: 2 completed\n")
    assert workspace.logs() == 2
    code, out, err = workspace.run("--format", "json", "--seeds", "2")
    assert (code, err) == (0, "")
    runs = json.loads(out)["runs"]
    assert [(run["row"], run["seed"], run["state"]) for run in runs] == [
        ("base", 1, "completed"),
        ("base", 2, "completed"),
        ("one-head", 1, "completed"),
        ("one-head", 2, "completed"),
    ]
    assert [run["seconds"] is None for run in runs] == [True, False, True, False]
    assert workspace.logs() == 4


@pytest.mark.slow
def test_a_failed_run_is_a_hole_with_its_cause_and_the_others_go_on(tmp_path: Path, shared_cache: Path) -> None:
    workspace = Workspace(tmp_path / "w", shared_cache, updates=40, study=STUDY + DIVERGING)
    code, out, err = workspace.run()
    assert code == 1, err
    assert "tiny at scale tiny: 2 completed, 1 failed" in err
    assert "diverging, seed 1: failed" in err
    assert "--retry-failed" in err
    assert "diverging" in "".join(table_lines(out))
    assert workspace.logs() == 3
    assert workspace.run()[0] == 1
    assert workspace.logs() == 3
    assert workspace.run("--retry-failed")[0] == 1
    assert workspace.logs() == 4


@pytest.mark.slow
def test_killed_by_kill_9_in_mid_run_and_run_again_is_the_same_as_never_killed(
    tmp_path: Path, shared_cache: Path
) -> None:
    whole = Workspace(tmp_path / "whole", shared_cache, updates=200)
    code, expected, err = whole.run()
    assert code == 0, err
    broken = Workspace(tmp_path / "broken", shared_cache, updates=200)
    runner = broken.start()
    assert until(lambda: len(list(broken.runs.glob("*/checkpoints/*"))) > 0)
    time.sleep(0.5)
    children = psutil.Process(runner.pid).children(recursive=True)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    assert until(lambda: not any(alive(child) for child in children), 3)
    assert Store(broken.runs).records() != Store(whole.runs).records()
    code, out, err = broken.run()
    assert code == 0, err
    assert list(map(numbers, Store(broken.runs).records())) == list(map(numbers, Store(whole.runs).records()))
    assert table_lines(out) == table_lines(expected)
    events = "".join(path.read_text() for path in broken.runs.glob("*/events.jsonl"))
    assert '"resume"' in events


@pytest.mark.slow
def test_ctrl_c_stops_and_the_same_command_goes_on(tmp_path: Path, shared_cache: Path) -> None:
    workspace = Workspace(tmp_path / "w", shared_cache, updates=200)
    runner = workspace.start("--slots", "1")
    assert until(lambda: len(list(workspace.runs.glob("*/checkpoints/*"))) > 0)
    runner.send_signal(signal.SIGINT)
    out, err = runner.communicate(timeout=30)
    assert runner.returncode == 130
    assert out == ""
    assert "stopped; the same command goes on where the runs are" in err
    assert "Traceback" not in err
    code, _, err = workspace.run()
    assert code == 0, err


@pytest.mark.slow
def test_bad_data_settings_are_one_sentence_before_any_run(tmp_path: Path, shared_cache: Path) -> None:
    workspace = Workspace(tmp_path / "w", shared_cache, updates=40)
    scale = workspace.folder / "experiments" / "scales" / "tiny.yaml"
    scale.write_text(scale.read_text().replace("tokenizer.size: 48", "tokenizer.size: 4000"))
    code, out, err = workspace.run()
    assert (code, out) == (2, "")
    assert "error: tokenizer.size=4000" in err
    assert "Traceback" not in err
    assert workspace.logs() == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seeds", "0"), "--seeds 0"),
        (("--launcher", "slurm"), "slurm"),
    ],
)
def test_bad_words_exit_2(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    code, out, err = Workspace(tmp_path / "w", tmp_path / "cache", updates=40).run(*words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_two_runners_on_the_same_study_at_once(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w", tmp_path / "cache", updates=40)
    with only_runner(workspace.runs, "tiny", "tiny"):
        code, out, err = workspace.run()
    assert (code, out) == (2, "")
    assert err.startswith("error: study 'tiny' at scale 'tiny' is being run already (process ")
    assert err.count("\n") == 1
