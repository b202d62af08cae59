"""Two hundred trials by eight workers, killed at random: none lost, none twice, none stuck."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import cheap_trial
import optuna
import postgres
import psutil
import pytest
from optuna.trial import TrialState

from ablatable.study.sweep.keeper import open_keeper, quiet
from ablatable.study.sweep.load import load_sweep

TRIALS = 200
RUNNERS = 4
ENOUGH = 5
"""Kills of either kind."""
WORKERS_EACH = 2

SWEEP = """
name: storm
title: a formula of two settings
experiment: base
fixed: {data.corpus: synthetic-copy, tracking.wandb: "off", runtime.accelerator: cpu}
space:
SPACE
objectives:
  - {metric: nll}
sampler: SAMPLER
budget: {trials: 200}
"""
GRID = (
    """
  train.learning_rate_factor: {low: 0.1, high: 2.0, step: 0.1}
  train.warmup: {values: [10, 20, 40, 80, 100, 200, 400, 800, 1600, 3200]}
""",
    "{kind: grid}",
)
SEARCH = (
    """
  train.learning_rate_factor: {low: 0.1, high: 10.0, log: true}
  train.warmup: {low: 10, high: 3200, log: true}
""",
    "{kind: tpe, seed: 3}",
)


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Generator[str]:
    if request.param == "journal":
        yield ""
        return
    if (reason := postgres.missing()) is not None:
        pytest.skip(reason)
    with postgres.server() as address:
        yield address


class Runners:
    """Processes that run the sweep side by side; one that was killed is started again."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self._url = url
        self._environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
            "ABLATABLE_RUNS": "runs",
            "CHEAP_TRIAL_SECONDS": "0.2",
        }
        self.processes = [self._start() for _ in range(RUNNERS)]

    def _start(self) -> subprocess.Popen[bytes]:
        runner = Path(__file__).with_name("sweep_runner.py")
        return subprocess.Popen(
            [sys.executable, str(runner), "storm", "objective", self._url, str(WORKERS_EACH)],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "stderr").open("ab"),
        )

    def kill_a_runner(self, draws: random.Random) -> bool:
        """End one at whatever it is doing, and put another in its place."""
        number = draws.randrange(RUNNERS)
        if self.processes[number].poll() is not None:
            return False
        self.processes[number].kill()
        self.processes[number].wait()
        self.processes[number] = self._start()
        return True

    def kill_a_run(self, draws: random.Random) -> bool:
        """End the process of one trial; its runner lives and starts it again."""
        trials = [
            child
            for process in self.processes
            if process.poll() is None
            for server in _children(process.pid)
            for child in _children(server.pid)
        ]
        if not trials:
            return False
        try:
            draws.choice(trials).send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            return False
        return True

    def wait(self, seconds: float) -> list[int]:
        deadline = time.monotonic() + seconds
        return [process.wait(max(1.0, deadline - time.monotonic())) for process in self.processes]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "sampler"), [("journal", "grid"), ("postgresql", "grid"), ("postgresql", "tpe")], indirect=["url"]
)
def test_swp_two_hundred_trials_by_eight_workers_survive_random_kills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, sampler: str
) -> None:
    space, kind = GRID if sampler == "grid" else SEARCH
    (tmp_path / "sweeps").mkdir()
    (tmp_path / "sweeps" / "storm.yaml").write_text(SWEEP.replace("SPACE", space).replace("SAMPLER", kind))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ABLATABLE_RUNS", "runs")
    draws = random.Random(7)
    runners = Runners(tmp_path, url)
    runners_killed = runs_killed = 0
    try:
        deadline = time.monotonic() + 1500
        while any(process.poll() is None for process in runners.processes) and time.monotonic() < deadline:
            time.sleep(draws.uniform(0.2, 0.9))
            # In turns at first, so that a fast machine does not end before both were put to the test.
            tested = min(runners_killed, runs_killed) >= ENOUGH
            runners_turn = draws.random() < 0.25 if tested else runners_killed <= runs_killed
            if runners_turn and runners_killed < 25:
                runners_killed += runners.kill_a_runner(draws)
            elif runs_killed < 20:
                runs_killed += runners.kill_a_run(draws)
        codes = runners.wait(60)
    finally:
        runners.end()
    assert codes == [0] * RUNNERS, (tmp_path / "stderr").read_text()
    assert runners_killed >= ENOUGH, "nothing was put to the test"
    assert runs_killed >= ENOUGH, "nothing was put to the test"
    _check(url, tmp_path / "runs", sampler)


def _check(url: str, runs: Path, sampler: str) -> None:
    quiet()
    plan = load_sweep("storm")
    keeper = open_keeper(plan.sweep, url or None)
    study = optuna.load_study(study_name="storm", storage=keeper.storage)
    trials = study.get_trials(deepcopy=False)
    assert [trial.number for trial in trials] == list(range(len(trials)))
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * TRIALS, "lost or stuck"
    assert len({tuple(sorted(trial.params.items())) for trial in trials}) == TRIALS, "twice"
    if sampler == "grid":
        expected = {tuple(sorted(point.items())) for point in plan.space.points()}
        assert {tuple(sorted(trial.params.items())) for trial in trials} == expected
    for trial in trials:
        experiment = plan.ground.experiment(trial.params)
        assert trial.values == [pytest.approx(cheap_trial.value(experiment))]
    keeper.close()
    assert len(cheap_trial.starts(runs)) == TRIALS
