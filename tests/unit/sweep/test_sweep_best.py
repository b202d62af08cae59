"""Which trials are the best, and the experiment that is written of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages.journal import JournalFileBackend
from sweep_files import MakeSweep
from test_sweep_storage import desk, take

from ablatable.config.load import load_experiment
from ablatable.errors import InputError
from ablatable.study.sweep.best import chosen, experiment_text, write_experiment
from ablatable.study.sweep.keeper import read_trials, sweep_folder
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.status import front
from ablatable.study.sweep.trials import Tried

GRID: dict[str, Any] = {
    "space": {"model.heads": {"values": [1, 2, 4, 8, 16]}},
    "sampler": {"kind": "grid"},
    "budget": None,
}


def finished(plan: Plan, values: list[list[float] | None]) -> list[Tried]:
    at, _, _ = desk(plan, None)
    for value in values:
        if value is None:
            at.finish(take(at), "FAIL", None, {"cause": "the loss was not finite"})
        else:
            at.finish(take(at), "COMPLETE", value, {})
    return read_trials(plan, None)


@pytest.mark.parametrize(("metric", "best"), [("nll", 2), ("bleu", 1)])
def test_the_best_is_the_lowest_or_the_highest_and_the_earlier_of_two(sweep: MakeSweep, metric: str, best: int) -> None:
    plan = sweep(**{**GRID, "objectives": [{"metric": metric}]})
    trials = finished(plan, [None, [5.0], [2.0], [2.0], [5.0]])
    assert [trial.number for trial in front(trials, plan.sweep)] == [best]
    assert chosen(trials, plan, None).number == best
    assert chosen(trials, plan, 3).number == 3


def test_of_several_objectives_there_is_a_front_and_a_person_chooses(sweep: MakeSweep) -> None:
    plan = sweep(**{**GRID, "objectives": [{"metric": "flops"}, {"metric": "bleu"}]})
    trials = finished(plan, [[1.0, 10.0], [2.0, 9.0], [2.0, 20.0], [3.0, 20.0], [4.0, 30.0]])
    assert [trial.number for trial in front(trials, plan.sweep)] == [0, 2, 4]
    with pytest.raises(
        InputError, match=r"none of these trials is the best in all: trial 0: .*Choose one with --trial"
    ):
        chosen(trials, plan, None)
    assert chosen(trials, plan, 2).values == (2.0, 20.0)


def test_what_has_no_value_is_never_the_best(sweep: MakeSweep) -> None:
    plan = sweep(**GRID)
    trials = finished(plan, [None])
    with pytest.raises(InputError, match="has no completed trial yet"):
        chosen(trials, plan, None)
    with pytest.raises(InputError, match="--trial 0: that trial of sweep 's' is failed"):
        chosen(trials, plan, 0)
    with pytest.raises(InputError, match="--trial 7: that trial of sweep 's' is not there"):
        chosen(trials, plan, 7)


def test_the_experiment_that_is_written_is_the_trial(sweep: MakeSweep, tmp_path: Path) -> None:
    """SWP-12: every setting reaches it, the scale's too, and what a choice switched off does not."""
    space = {"model.position": {"values": ["rope"]}, "model.position_base": {"values": [500.0]}}
    plan = sweep(space=space, scale="cpu", fixed={"model.heads": 4}, sampler={"kind": "grid"}, budget=None)
    (trial,) = finished(plan, [[1.0]])
    write_experiment(plan, trial, tmp_path / "tuned.yaml")
    assert load_experiment(str(tmp_path / "tuned.yaml")) == plan.ground.experiment(trial.point)
    assert "selected on the development data" in experiment_text(plan, trial)
    write_experiment(plan, trial, tmp_path / "tuned.yaml")
    (tmp_path / "tuned.yaml").write_text("extends: base\n")
    with pytest.raises(InputError, match="is there already"):
        write_experiment(plan, trial, tmp_path / "tuned.yaml")
    with pytest.raises(InputError, match=r"an experiment is a \.yaml file"):
        write_experiment(plan, trial, tmp_path / "tuned")


def test_plain_optuna_reads_the_journal(sweep: MakeSweep) -> None:
    """As optuna-dashboard opens it: with Optuna's own classes and nothing of ours."""
    plan = sweep(**GRID)
    finished(plan, [[3.0], [1.0], None])
    backend = JournalFileBackend(str(sweep_folder("s") / "journal.log"))
    study = optuna.load_study(study_name="s", storage=optuna.storages.JournalStorage(backend))
    assert study.best_params == {"model.heads": 2}
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "COMPLETE", "FAIL"]
