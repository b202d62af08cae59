"""What a sweep keeps: of this sweep alone, whole after a kill, with no trial of a dead process left running."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState
from sweep_files import MakeSweep

from ablatable.config.identity import run_id
from ablatable.errors import InputError
from ablatable.study.sweep.claim import Claimed, Desk, Nothing
from ablatable.study.sweep.keeper import Keeper, existing_keeper, open_keeper, open_study, read_trials, sweep_folder
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.trials import Spent, Tried, counts, used_up

GRID: dict[str, Any] = {
    "space": {"model.heads": {"values": [1, 2, 3, 4]}},
    "sampler": {"kind": "grid"},
    "budget": None,
}
STORAGES = ["journal", "sqlite"]


@pytest.fixture(params=STORAGES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """Both kinds of storage, as two processes of one machine would open them."""
    return None if request.param == "journal" else f"sqlite:///{tmp_path}/trials.db"


def desk(plan: Plan, url: str | None) -> tuple[Desk, Keeper, optuna.Study]:
    keeper = open_keeper(plan.sweep, url)
    study = open_study(keeper, plan, "a-corpus")
    return Desk(keeper, study, plan, lambda one: run_id(one, "a-corpus")), keeper, study


def take(desk: Desk) -> Claimed:
    claimed = desk.claim()
    assert isinstance(claimed, Claimed)
    return claimed


def states(desk: Desk) -> list[str]:
    return [trial.state for trial in desk.trials()]


def test_trials_are_taken_in_order_and_an_impossible_one_is_told(sweep: MakeSweep, url: str | None) -> None:
    at, _, _ = desk(sweep(**GRID), url)
    taken = [take(at) for _ in range(3)]
    assert [one.point["model.heads"] for one in taken] == [1, 2, 4]
    assert [one.number for one in taken] == [0, 1, 3]
    assert states(at) == ["running", "running", "skipped", "running"]
    assert "model.heads=3 does not divide" in str(at.trials()[2].cause)
    assert at.claim() == Nothing("every point was tried", 3)
    for one in taken:
        at.finish(one, "COMPLETE", [1.0], {})
    assert at.claim() == Nothing("every point was tried", 0)


def test_two_processes_never_get_one_point_and_share_the_budget(sweep: MakeSweep, url: str | None) -> None:
    plan = sweep(budget={"trials": 5})
    first, second = desk(plan, url)[0], desk(plan, url)[0]
    taken: list[Claimed] = []
    for at in (first, second, second, first, second):
        taken.append(take(at))
    assert [one.number for one in taken] == [0, 1, 2, 3, 4]
    assert len({str(one.point) for one in taken}) == 5
    for at in (first, second):
        assert at.claim() == Nothing("the budget is used up: 5 of 5 trials", 5)


def test_a_trial_of_a_dead_process_is_taken_up_under_its_number(sweep: MakeSweep, tmp_path: Path) -> None:
    plan = sweep(**GRID)
    code = """
import os
from test_sweep_storage import desk, take
from ablatable.study.sweep.load import load_sweep
at = desk(load_sweep("s"), None)[0]
print(take(at).number, take(at).number, flush=True)
os.kill(os.getpid(), 9)
"""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout == "0 1\n", told.stderr
    assert [trial.state for trial in read_trials(plan, None)] == ["running", "running"]
    at, _, _ = desk(plan, None)
    assert [take(at).number for _ in range(3)] == [0, 1, 3]
    assert states(at) == ["running", "running", "skipped", "running"]
    assert [trial.attribute("deaths") for trial in at.trials()] == [1, 1, None, None]


def test_a_point_that_processes_die_of_fails_with_that_cause(sweep: MakeSweep) -> None:
    plan = sweep(**GRID)
    for _ in range(10):
        at, keeper, _ = desk(plan, None)
        assert take(at).number == 0
        keeper.close()
    at, _, _ = desk(plan, None)
    assert take(at).number == 1
    assert (at.trials()[0].state, at.trials()[0].cause) == ("failed", "10 processes died while they ran it")


def test_a_silent_process_is_taken_for_dead_and_a_beating_one_is_not(sweep: MakeSweep, tmp_path: Path) -> None:
    from ablatable.study.sweep.database import DatabaseKeeper

    plan = sweep(**GRID)
    address = f"sqlite:///{tmp_path}/trials.db"
    patient, hasty = DatabaseKeeper(address, "s", 1, 3600), DatabaseKeeper(address, "s", 1, 1)
    study = open_study(patient, plan, "a-corpus")
    at = Desk(patient, study, plan, lambda one: run_id(one, "a-corpus"))
    assert take(at).number == 0
    assert take(at).number == 1, "its process was heard of in the grace period"
    time.sleep(2.5)  # SQLite's clock has seconds
    assert take(Desk(hasty, study, plan, lambda one: run_id(one, "a-corpus"))).number == 0


def test_a_stopped_process_gives_its_trial_back(sweep: MakeSweep, url: str | None) -> None:
    at, _, _ = desk(sweep(**GRID), url)
    at.give_back(take(at))
    assert states(at) == ["waiting"]
    again = take(at)
    assert (again.number, states(at)) == (0, ["running"])
    assert at.trials()[0].attribute("deaths") is None


def test_who_was_taken_for_dead_and_was_not_changes_nothing(sweep: MakeSweep, url: str | None) -> None:
    at, _, _ = desk(sweep(**GRID), url)
    claimed = take(at)
    assert at.finish(claimed, "COMPLETE", [1.0], {"spent": {}})
    assert not at.finish(claimed, "COMPLETE", [2.0], {"spent": {"a": [1, 1]}})
    assert not at.report(claimed, 10, 5.0)
    assert at.trials()[0].values == (1.0,)


def test_a_trial_put_there_by_hand_is_run_if_it_is_a_point(sweep: MakeSweep, url: str | None) -> None:
    at, _, study = desk(sweep(**GRID), url)
    study.enqueue_trial({"model.heads": 4})
    study.enqueue_trial({"model.heads": 7})
    first = take(at)
    assert (first.number, first.point) == (0, {"model.heads": 4})
    assert take(at).point == {"model.heads": 1}
    assert at.trials()[0].point == {"model.heads": 4}
    assert at.trials()[1].state == "skipped"


def test_swp_03_an_update_is_reported_once_and_never_as_zero(sweep: MakeSweep, url: str | None) -> None:
    at, _, _ = desk(sweep(**GRID), url)
    claimed = take(at)
    assert at.reported(claimed) == 0
    at.report(claimed, 20, 9.0)
    assert at.reported(claimed) == 20
    assert at.trials()[0].frozen.intermediate_values == {20: 9.0}


def test_swp_04_a_pruned_trial_has_no_value(sweep: MakeSweep, url: str | None) -> None:
    plan = sweep(**{**GRID, "objectives": [{"metric": "bleu"}]})
    at, _, study = desk(plan, url)
    claimed = take(at)
    at.report(claimed, 10, 5.0)
    at.report(claimed, 20, 7.0)
    at.finish(claimed, "PRUNED", None, {"cause": "stopped by the pruner"})
    trial = study.trials[0]
    assert (trial.state, trial.values) == (TrialState.PRUNED, None)
    with pytest.raises(ValueError, match=r"No trials are completed yet|Record does not exist"):
        _ = study.best_value
    assert at.trials()[0].values == ()


SEARCH: dict[str, Any] = {"space": {"model.position": {"values": ["sinusoidal", "rope"]}}}
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "SWP-06: a choice more": (
        {"space": {"model.position": {"values": ["sinusoidal", "rope", "alibi"]}}},
        "space model.position was {sinusoidal, rope} and is {sinusoidal, rope, alibi}",
    ),
    "another setting": ({"space": {"model.heads": {"values": [1, 2]}}}, "model.heads was not there and is {1, 2}"),
    "objective": ({"objectives": [{"metric": "bleu"}]}, "was valid.nll (lower) and is valid.bleu (higher)"),
    "seeds": ({"seeds": 2}, "seeds was 1 and is 2"),
    "fixed": ({"fixed": {"data.corpus": "synthetic-copy", "model.layers": 2}}, "model.layers was not there and is 2"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_trials_of_another_sweep_are_refused_with_the_difference(
    sweep: MakeSweep, url: str | None, change: str
) -> None:
    desk(sweep(**SEARCH), url)
    changes, said = CHANGES[change]
    changed = sweep(**{**SEARCH, **changes})
    for read in (lambda: desk(changed, url), lambda: read_trials(changed, url)):
        with pytest.raises(InputError, match="the storage holds another sweep of the name 's'") as caught:
            read()
        assert said in str(caught.value)


def test_another_corpus_is_another_sweep(sweep: MakeSweep, url: str | None) -> None:
    plan = sweep(**SEARCH)
    desk(plan, url)
    with pytest.raises(InputError, match="corpus was a-corpus and is another"):
        open_study(open_keeper(plan.sweep, url), plan, "another")


def test_budget_sampler_and_words_may_change(sweep: MakeSweep, url: str | None) -> None:
    desk(sweep(**SEARCH), url)
    changed = sweep(**SEARCH, budget={"trials": 99}, sampler={"kind": "tpe"}, title="Other words")
    assert take(desk(changed, url)[0]).number == 0


def test_a_torn_line_costs_that_line_alone(sweep: MakeSweep) -> None:
    plan = sweep(**GRID)
    at, keeper, _ = desk(plan, None)
    take(at)
    keeper.close()
    path = sweep_folder("s") / "journal.log"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code":6,"worker_id":"x"')
    again, _, _ = desk(plan, None)
    assert [take(again).number, take(again).number] == [0, 1]
    assert path.read_bytes().startswith(whole)
    assert all(line.endswith(b"}") for line in path.read_bytes().splitlines())


def test_a_damaged_journal_says_so(sweep: MakeSweep) -> None:
    plan = sweep(**GRID)
    desk(plan, None)
    path = sweep_folder("s") / "journal.log"
    path.write_bytes(b"{broken\n" + path.read_bytes())
    with pytest.raises(InputError, match=r"journal.log is damaged .*finished runs are taken as they are"):
        open_keeper(plan.sweep, None)


def test_a_sweep_that_was_never_run(sweep: MakeSweep) -> None:
    plan = sweep(**GRID)
    with pytest.raises(
        InputError, match=r"sweep 's' was never run here: there is no .*journal.log; run it first, or name"
    ):
        existing_keeper(plan.sweep, None)
    assert not sweep_folder("s").exists()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (
            "postgresql+psycopg://me:secret@127.0.0.1:9/db",
            "--storage postgresql+psycopg://me:***@127.0.0.1:9/db: cannot",
        ),
        ("sqlite:////nowhere/at/all.db", "in a file of a folder that is there"),
        ("sqlite://", "in a file of a folder that is there"),
        ("runs/trials.db", "--storage takes a database URL"),
        ("nosuch://host/db", "cannot be used"),
        ("oracle+cx_oracle://host/db", "its driver is not installed"),
    ],
)
def test_a_storage_that_cannot_be_used_is_told_in_one_sentence(sweep: MakeSweep, address: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        open_keeper(sweep(**GRID).sweep, address)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_hours_and_flops_end_a_search_too(sweep: MakeSweep) -> None:
    budget = sweep(budget={"hours": 2.0, "flops": 1e15}).sweep.budget
    assert used_up(budget, Spent(100, 1.9, 9e14)) is None
    assert used_up(budget, Spent(1, 2.0, 0)) == "2.00 of 2 hours"
    assert used_up(budget, Spent(1, 0, 2e15)) == "2e+15 of 1e+15 FLOPs"


def test_impossible_points_without_end_end_the_search(sweep: MakeSweep) -> None:
    space = {"model.heads": {"values": [3, 5, 7]}, "model.dropout": {"low": 0.0, "high": 0.5}}
    at, _, _ = desk(sweep(space=space), None)
    with pytest.raises(InputError, match=r"100 points in a row are impossible, .*: .*narrow the space"):
        at.claim()
    found: list[Tried] = at.trials()
    assert counts(found)["skipped"] == 100
