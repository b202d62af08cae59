"""The space: conditions, order, enumeration; every point proposed belongs to it and means what it says."""

from __future__ import annotations

from typing import Any

import optuna
import pytest
from sweep_files import MakeSweep

from ablatable.config.dump import is_active
from ablatable.config.tree import value_at
from ablatable.errors import InputError
from ablatable.study.sweep.space import key

POSITIONS: dict[str, Any] = {
    "model.position_base": {"low": 100.0, "high": 1e5, "log": True, "when": {"model.position": "rope"}},
    "model.position_clip": {"low": 1, "high": 8},
    "model.position": {"values": ["sinusoidal", "rope", "shaw", "none"]},
}


def test_a_setting_comes_after_those_it_depends_on(sweep: MakeSweep) -> None:
    plan = sweep(space=POSITIONS)
    assert [p.path for p in plan.space.parameters] == ["model.position", "model.position_base", "model.position_clip"]


def test_conditional_settings_are_searched_where_they_mean_something(sweep: MakeSweep) -> None:
    """SWP-06: each has a name of its own, and no value is proposed that the run would not read."""
    plan = sweep(space=POSITIONS)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    seen: dict[str, set[str]] = {}
    for _ in range(60):
        point = plan.space.suggest(study.ask())
        assert plan.space.admits(point)
        made = plan.ground.experiment(point)
        for path, value in point.items():
            assert is_active(made, path)
            assert value_at(made, path) == value
        seen.setdefault(str(point["model.position"]), set()).update(point)
    assert seen["rope"] == {"model.position", "model.position_base"}
    assert seen["shaw"] == {"model.position", "model.position_clip"}
    assert seen["sinusoidal"] == seen["none"] == {"model.position"}


def test_a_grid_has_every_combination_once_and_skips_what_means_nothing(sweep: MakeSweep) -> None:
    space = {
        "model.position": {"values": ["rope", "none"]},
        "model.position_base": {"values": [100.0, 1000.0]},
        "model.heads": {"low": 2, "high": 6, "step": 2},
    }
    points = list(sweep(space=space, sampler={"kind": "grid"}).space.points())
    assert len(points) == 2 * 3 + 3
    assert len({key(point) for point in points}) == len(points)
    assert points[0] == {"model.position": "rope", "model.position_base": 100.0, "model.heads": 2}
    assert points[-1] == {"model.position": "none", "model.heads": 6}


def test_the_steps_of_a_float_stay_equal_through_the_storage(sweep: MakeSweep) -> None:
    plan = sweep(space={"model.dropout": {"low": 0.0, "high": 0.5, "step": 0.1}}, sampler={"kind": "grid"})
    points = list(plan.space.points())
    assert len(points) == 6
    for point in points:
        stored = optuna.trial.create_trial(params=dict(point), distributions=plan.space.distributions(point), value=0)
        assert key(stored.params) == key(point)


def test_what_a_choice_switches_off_does_not_stand_in_its_way(sweep: MakeSweep) -> None:
    fixed = {"model.position_base": 500.0}
    plan = sweep(fixed=fixed, space={"model.position": {"values": ["rope", "none"]}}, sampler={"kind": "grid"})
    assert plan.ground.experiment({"model.position": "rope"}).model.position_base == 500.0
    assert plan.ground.experiment({"model.position": "none"}).model.position == "none"


def test_an_impossible_point_says_where_its_settings_stand(sweep: MakeSweep) -> None:
    plan = sweep(space={"model.heads": {"values": [3, 4]}})
    with pytest.raises(
        InputError, match=r"base.yaml:\d+, sweeps/s.yaml:8: model.heads=3 does not divide model.d_model=512"
    ):
        plan.ground.experiment({"model.heads": 3})


@pytest.mark.parametrize(
    "point",
    [
        {"model.position": "rope"},
        {"model.position": "none", "model.position_clip": 2},
        {"model.position": "rope", "model.position_base": 1.0},
        {"model.position": "alibi"},
        {},
    ],
)
def test_a_point_from_elsewhere_is_no_point_of_the_space(sweep: MakeSweep, point: dict[str, Any]) -> None:
    assert not sweep(space=POSITIONS).space.admits(point)
