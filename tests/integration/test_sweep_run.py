"""The sweep launcher with cheap trials in real processes: how trials end, what is reused, pruned and taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cheap_trial
import pytest
import yaml

from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.errors import InputError, RunFailed
from ablatable.launch.searching import Calls
from ablatable.launch.sweep import SweepRun, run_sweep
from ablatable.launch.sweep_progress import Silent
from ablatable.record.store import Store
from ablatable.study.sweep.keeper import read_trials
from ablatable.study.sweep.load import load_sweep
from ablatable.study.sweep.status import to_json
from ablatable.study.sweep.trials import counts

SWEEP: dict[str, Any] = {
    "name": "s",
    "title": "A search",
    "experiment": "base",
    "fixed": {"data.corpus": "synthetic-copy", "tracking.wandb": "off", "runtime.accelerator": "cpu"},
    "space": {"train.warmup": {"values": [50, 100, 200]}},
    "objectives": [{"metric": "nll"}],
    "sampler": {"kind": "grid"},
}

Run = Callable[..., SweepRun]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ABLATABLE_RUNS", "runs")
    (tmp_path / "sweeps").mkdir()

    def make(**changes: Any) -> None:
        content = {**SWEEP, **changes}
        (tmp_path / "sweeps" / f"{content['name']}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))

    return make


@pytest.fixture
def run(write: Callable[..., None]) -> Run:
    """Write a sweep and run it, its trials calling a function of `cheap_trial`."""

    def go(target: str = "objective", workers: int = 2, trials: int | None = None, **changes: Any) -> SweepRun:
        write(**changes)
        calls = Calls(f"cheap_trial:{target}", prepare=None, preload=("cheap_trial",))
        return run_sweep(
            load_sweep(changes.get("name", "s")),
            storage=None,
            workers=workers,
            trials=trials,
            progress=Silent(),
            say=print,
            calls=calls,
        )

    return go


def test_trials_become_runs_with_records_and_the_best_is_the_lowest(run: Run) -> None:
    made = run()
    assert made.exit_code == 0
    assert made.why == "every point was tried"
    values = {trial.point["train.warmup"]: trial.values[0] for trial in made.trials}
    assert min(values, key=values.__getitem__) == 100
    store = Store(Path("runs"))
    for trial in made.trials:
        (record,) = [store.read(id) for id in trial.runs]
        assert record is not None
        assert (record.labels.study, record.labels.row) == ("s", f"trial {trial.number}")
        assert record.config["train"]["warmup"] == trial.point["train.warmup"], "SWP-12: the value reached the run"
        assert record.metric("valid.nll") == trial.values[0]


def test_a_second_launch_runs_nothing(run: Run) -> None:
    run()
    before = cheap_trial.starts(Path("runs"))
    assert run().exit_code == 0
    assert cheap_trial.starts(Path("runs")) == before


def test_another_sweep_takes_the_runs_that_are_there(run: Run) -> None:
    first = run()
    before = cheap_trial.starts(Path("runs"))
    second = run(name="other", space={"train.warmup": {"values": [100, 200]}})
    assert cheap_trial.starts(Path("runs")) == before, "the same point is the same run"
    assert [trial.values for trial in second.trials] == [trial.values for trial in first.trials[1:]]
    assert all(trial.spent == {trial.runs[0]: (0.0, 0.0)} for trial in second.trials), "they cost it nothing"


def test_a_trial_is_the_mean_over_its_seeds(run: Run) -> None:
    made = run(seeds=3, space={"train.warmup": {"values": [100]}})
    (trial,) = made.trials
    assert trial.values[0] == pytest.approx(0.02)  # 0.01, 0.02, 0.03
    assert len(trial.runs) == 3


def test_a_larger_budget_goes_on_where_the_smaller_ended(run: Run) -> None:
    space = {"train.learning_rate_factor": {"low": 0.1, "high": 10.0}}
    search = {"space": space, "sampler": {"kind": "tpe", "seed": 4, "startup": 2}}
    stepwise = run(workers=1, trials=3, **search, budget={"trials": 2})
    stepwise = run(workers=1, trials=6, **search, budget={"trials": 2})
    whole = run(workers=1, name="whole", **search, budget={"trials": 6})
    assert [trial.point for trial in stepwise.trials] == [trial.point for trial in whole.trials]
    assert counts(stepwise.trials)["completed"] == 6


def test_trials_side_by_side_are_told_to_be_unrepeatable(run: Run) -> None:
    """SWP-07; each trial has what repeats it alone."""
    space = {"train.learning_rate_factor": {"low": 0.1, "high": 10.0}}
    search = {"space": space, "sampler": {"kind": "random"}, "budget": {"trials": 4}}
    beside, alone = run(workers=2, **search), run(workers=1, name="alone", **search)
    store = Store(Path("runs"))
    assert to_json(beside.trials, beside.plan.sweep, store)["repeatable"] is False
    assert to_json(alone.trials, alone.plan.sweep, store)["repeatable"] is True
    for trial in beside.trials:
        (word,) = trial.attribute("settings")
        made = load_experiment("base", ["data.corpus=synthetic-copy", word])
        assert run_id(made, "2291839859fde6eb") == trial.runs[0]


def test_hours_end_a_search(run: Run) -> None:
    """Each cheap run says it took 36 seconds, a hundredth of an hour."""
    space = {"train.learning_rate_factor": {"low": 0.1, "high": 10.0}}
    made = run(workers=1, space=space, sampler={"kind": "random"}, budget={"hours": 0.025})
    assert len(made.trials) == 3
    assert made.why.startswith("the budget is used up: 0.03 of 0.025 hours")


def test_a_run_without_a_finite_loss_is_a_failed_trial_and_no_value(run: Run) -> None:
    made = run(target="diverging", space={"train.warmup": {"values": [50]}})
    (trial,) = made.trials
    assert (trial.state, trial.values) == ("failed", ())
    assert trial.cause == "the training loss was not finite at or before update 3"
    assert made.exit_code == 1


def test_what_the_data_refuse_is_skipped_and_what_is_wrong_in_us_fails(run: Run) -> None:
    made = run(space={"train.beta1": {"values": [0.1, 0.2, 0.4, 0.9]}}, budget={"trials": 3})
    assert [trial.state for trial in made.trials] == ["skipped", "failed", "failed", "completed"]
    causes = [trial.cause for trial in made.trials]
    assert causes[0] == "tokenizer.size=9 is more than the text has"
    assert causes[1] == "ValueError: a fault in the training"
    assert causes[2] is not None
    assert "died 3 times without a record: killed by SIGKILL" in causes[2]


def test_what_every_run_would_meet_ends_the_search_and_fails_no_trial(run: Run) -> None:
    with pytest.raises(RunFailed, match="the disk is full"):
        run(space={"train.beta1": {"values": [0.25, 0.9]}})
    states = [trial.state for trial in read_trials(load_sweep("s"), None)]
    assert states[0] == "waiting"
    assert "failed" not in states


def test_a_run_that_is_killed_once_is_run_again(run: Run) -> None:
    made = run(space={"train.beta1": {"values": [0.3]}})
    assert [trial.state for trial in made.trials] == ["completed"]
    assert list(cheap_trial.starts(Path("runs")).values()) == [2]


PRUNED: dict[str, Any] = {
    "space": {"train.learning_rate_factor": {"values": [1.0, 1.1, 0.9, 8.0, 0.2]}},
    "pruner": {"kind": "median", "startup": 2, "first": 20},
}


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["nll", "bleu"])
def test_a_hopeless_run_is_ended_early_with_its_cause_on_the_record(run: Run, metric: str) -> None:
    made = run(target="curved", workers=1, **PRUNED, objectives=[{"metric": metric}])
    states = {trial.point["train.learning_rate_factor"]: trial.state for trial in made.trials}
    assert states[1.0] == states[1.1] == "completed"
    assert states[8.0] == states[0.2] == "pruned"
    store = Store(Path("runs"))
    for trial in made.trials:
        record = store.read(trial.runs[0])
        assert record is not None
        assert record.status == trial.state
        steps = trial.frozen.intermediate_values
        assert list(steps) == [point.update for point in record.curve], "every validation, once, by update"
        assert 0 not in steps
        if trial.state == "pruned":
            assert (trial.values, record.metrics) == ((), {})
            assert trial.cause == record.cause
            assert str(record.cause).startswith("stopped by the pruner median at update ")
            assert record.curve[-1].update < 100
            assert store.status(trial.runs[0]).state == "pruned"


@pytest.mark.slow
def test_a_pruned_run_is_made_whole_where_nothing_prunes(run: Run) -> None:
    run(target="curved", workers=1, **PRUNED)
    made = run(name="whole", space={"train.learning_rate_factor": {"values": [8.0]}})
    assert [trial.state for trial in made.trials] == ["completed"]


def test_an_unknown_storage_stops_before_anything(run: Run, write: Callable[..., None]) -> None:
    write()
    with pytest.raises(InputError, match="--storage takes a database URL"):
        run_sweep(load_sweep("s"), storage="runs/x", workers=1, trials=None, progress=Silent(), say=print)
    with pytest.raises(InputError, match="--trials 0"):
        run_sweep(load_sweep("s"), storage=None, workers=1, trials=0, progress=Silent(), say=print)
    assert not Path("runs").exists()


def start_runner(workers: int = 2, seconds: str = "1") -> subprocess.Popen[str]:
    tests = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), *sys.path]), "CHEAP_TRIAL_SECONDS": seconds}
    command = [sys.executable, str(tests / "sweep_runner.py"), "s", "objective", "", str(workers)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def wait_for(state: str, count: int) -> None:
    plan = load_sweep("s")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Path("runs/sweeps/s/journal.log").exists():
            try:
                trials = read_trials(plan, None)
            except InputError:  # the study is being made
                trials = []
            if counts(trials)[state] >= count:  # pyright: ignore[reportArgumentType]
                return
        time.sleep(0.1)
    raise AssertionError(f"no {count} trials were {state}")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_sweep_goes_on_under_the_same_numbers(
    run: Run, write: Callable[..., None], number: signal.Signals
) -> None:
    write()
    runner = start_runner()
    wait_for("running", 2)
    time.sleep(0.3)
    runner.send_signal(number)
    _, told = runner.communicate(timeout=30)
    assert runner.returncode == (-9 if number == signal.SIGKILL else 128 + number), told
    left = {trial.state for trial in read_trials(load_sweep("s"), None)}
    assert left <= ({"running"} if number == signal.SIGKILL else {"waiting"}), "a stopped runner gives its trials back"
    made = run()
    assert [trial.number for trial in made.trials] == [0, 1, 2]
    assert [trial.state for trial in made.trials] == ["completed"] * 3
    assert [trial.point["train.warmup"] for trial in made.trials] == [50, 100, 200]


@pytest.mark.slow
def test_two_runners_share_one_sweep(run: Run, write: Callable[..., None]) -> None:
    space = {"train.warmup": {"values": [10, 20, 40, 80, 160, 320, 640, 1280]}}
    write(space=space)
    other = start_runner(workers=2, seconds="1.5")
    wait_for("running", 2)
    made = run(space=space)
    _, told = other.communicate(timeout=60)
    assert other.returncode == 0, told
    assert [trial.state for trial in made.trials] == ["completed"] * 8
    assert set(cheap_trial.starts(Path("runs")).values()) == {1}
    assert len({trial.attribute("owner") for trial in made.trials}) == 2, "both had a part"
