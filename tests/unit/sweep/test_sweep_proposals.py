"""Proposals: a search that goes on after a stop is the one that never stopped, and no point comes twice."""

from __future__ import annotations

from typing import Any

import pytest
from optuna.trial import FrozenTrial, TrialState, create_trial
from sweep_files import MakeSweep

from ablatable.study.sweep.keeper import directions, quiet
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.samplers import KINDS, propose
from ablatable.study.sweep.space import key


def search(plan: Plan, trials: list[FrozenTrial], count: int) -> list[FrozenTrial]:
    """Go on for so many trials, each told before the next is asked for, as one worker does."""
    quiet()
    found = list(trials)
    for _ in range(count):
        proposal = propose(plan, found, {key(trial.params) for trial in found}, directions(plan.sweep))
        if proposal is None:
            break
        point = dict(proposal.point)
        value = (float(point.get("train.warmup", 0)) - 300) ** 2 + float(point.get("model.heads", 0))
        made = create_trial(
            state=TrialState.COMPLETE,
            values=[value] * len(plan.sweep.objectives),
            params=point,
            distributions=plan.space.distributions(point),
            system_attrs=proposal.system_attrs,
        )
        made.number = len(found)
        found.append(made)
    return found


def points(trials: list[FrozenTrial]) -> list[dict[str, Any]]:
    return [trial.params for trial in trials]


SAMPLERS = ["random", "tpe", "nsga2", pytest.param("gp", marks=pytest.mark.slow)]


@pytest.mark.parametrize("kind", SAMPLERS)
def test_swp_01_a_search_that_goes_on_is_the_one_that_never_stopped(sweep: MakeSweep, kind: str) -> None:
    plan = sweep(sampler={"kind": kind, "seed": 42, **({"startup": 2} if kind in ("tpe", "gp") else {})})
    whole = search(plan, [], 6)
    resumed = search(plan, search(plan, [], 3), 3)
    assert points(resumed) == points(whole)
    assert len({key(point) for point in points(whole)}) == 6, "SWP-01: no point is tried twice"


@pytest.mark.parametrize("kind", SAMPLERS)
def test_swp_07_one_worker_repeats_and_another_seed_does_not(sweep: MakeSweep, kind: str) -> None:
    plan = sweep(sampler={"kind": kind, "seed": 1})
    assert points(search(plan, [], 4)) == points(search(plan, [], 4))
    assert points(search(sweep(sampler={"kind": kind, "seed": 2}), [], 4)) != points(search(plan, [], 4))


@pytest.mark.parametrize("kind", ["random", "tpe", "nsga2"])
def test_a_small_space_is_tried_whole_without_a_repeat(sweep: MakeSweep, kind: str) -> None:
    space = {"model.heads": {"values": [1, 2, 4]}, "model.dropout": {"low": 0.0, "high": 0.2, "step": 0.1}}
    trials = search(sweep(space=space, sampler={"kind": kind}), [], 20)
    assert len(trials) == len({key(point) for point in points(trials)}) == 9


def test_a_model_is_asked_after_the_startup(sweep: MakeSweep) -> None:
    """TPE draws near the lowest values: its later points are better than the first ones."""
    plan = sweep(sampler={"kind": "tpe", "startup": 8}, space={"train.warmup": {"low": 1, "high": 10000}})
    values = [trial.value or 0.0 for trial in search(plan, [], 40)]
    assert sorted(values[20:])[10] < sorted(values[:8])[4] / 4


def test_nsga2_goes_from_generation_to_generation(sweep: MakeSweep) -> None:
    objectives = [{"metric": "nll"}, {"metric": "flops"}]
    plan = sweep(sampler={"kind": "nsga2", "population": 4}, objectives=objectives)
    trials = search(plan, [], 13)
    generations = [trial.system_attrs["NSGAIISampler:generation"] for trial in trials]
    assert generations == [0] * 4 + [1] * 4 + [2] * 4 + [3]


def test_every_sampler_of_the_schema_is_there(sweep: MakeSweep) -> None:
    enumerated = {"grid", "list"}
    declared = type(sweep().sweep.sampler).__dataclass_fields__["kind"].type.__args__
    assert set(declared) == set(KINDS) | enumerated
