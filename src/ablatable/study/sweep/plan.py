"""What a sweep will take, before anything is trained: points, impossible ones, parameters, FLOPs."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ablatable.config.schema import Experiment
from ablatable.errors import InputError
from ablatable.study.estimate import Speed, cost_of, speed_for
from ablatable.study.sweep.domains import Choice, Domain, Point
from ablatable.study.sweep.load import Plan
from ablatable.study.values import Setting

_DRAWN = 64
"""Points looked at where the space has no list of them."""


def example(plan: Plan) -> Experiment:
    """An experiment of the sweep, which stands for all where they agree: data, devices, tracking.

    Raises:
        InputError: none of the points looked at is possible; the message says why the last is not.
    """
    cause: InputError | None = None
    for point in itertools.islice(_points(plan), 4 * _DRAWN):
        try:
            return plan.ground.experiment(point)
        except InputError as error:
            cause = error
    raise InputError(f"no point of this sweep is possible; the last one tried: {cause}")


def to_prepare(plan: Plan) -> list[Experiment]:
    """One experiment for each corpus that the sweep reads."""
    first = example(plan)
    found = {first.data.corpus: first}
    for point in itertools.islice(_points(plan), 4 * _DRAWN):
        try:
            one = plan.ground.experiment(point)
        except InputError:
            continue  # recorded as skipped when its turn comes
        found.setdefault(one.data.corpus, one)
    return list(found.values())


@dataclass(frozen=True)
class SweepPlan:
    """A sweep's size. `points` is None where the space has no end; costs are those of the points looked at."""

    name: str
    title: str
    scale: str | None
    points: int | None
    looked_at: int
    impossible: tuple[str, ...]
    trials: int | None
    seeds: int
    parameters: tuple[int, int]
    flops: float
    """Mean of one run."""
    speed: Speed

    @property
    def total_flops(self) -> float | None:
        """Of all trials, pruning left out of account; None where only hours or FLOPs end the search."""
        return None if self.trials is None else self.trials * self.seeds * self.flops


def plan_sweep(plan: Plan) -> SweepPlan:
    """Look at a sweep's points: all that are listed, else some drawn at random.

    Raises:
        InputError: no point is possible.
    """
    sweep = plan.sweep
    points = list(_points(plan)) if sweep.enumerated else list(itertools.islice(_points(plan), _DRAWN))
    impossible: list[str] = []
    possible: list[Experiment] = []
    for point in points:
        try:
            possible.append(plan.ground.experiment(point))
        except InputError as error:
            impossible.append(str(error))
    if not possible:
        raise InputError(f"no point of this sweep is possible; the last one tried: {impossible[-1]}")
    costs = [cost_of(one) for one in possible]
    limit = sweep.budget.trials
    listed = len(possible) if sweep.enumerated else None
    return SweepPlan(
        name=sweep.name,
        title=sweep.title,
        scale=sweep.scale,
        points=len(points) if sweep.enumerated else plan.space.size,
        looked_at=len(points),
        impossible=tuple(impossible),
        trials=listed if limit is None else limit if listed is None else min(limit, listed),
        seeds=sweep.seeds,
        parameters=(min(cost.parameters for cost in costs), max(cost.parameters for cost in costs)),
        flops=statistics.fmean(cost.flops for cost in costs),
        speed=speed_for(possible[0], sweep.scale or "paper", [], None),
    )


def _points(plan: Plan) -> Iterator[Point]:
    if plan.sweep.enumerated:
        yield from plan.space.points()
        return
    draws = random.Random(0)
    while True:
        point: dict[str, Setting] = {}
        for parameter in plan.space.parameters:
            if plan.space.active(parameter, point):
                point[parameter.path] = _drawn(parameter.domain, draws)
        yield point


def _drawn(domain: Domain, draws: random.Random) -> Setting:
    if isinstance(domain, Choice):
        return draws.choice(domain.values)
    if domain.listed is not None:
        return draws.choice(domain.listed)
    low, high = float(domain.low), float(domain.high)
    value = low * (high / low) ** draws.random() if domain.log else draws.uniform(low, high)
    return round(value) if domain.whole else value


def to_json(plan: SweepPlan) -> dict[str, Any]:
    """The plan as data for scripts."""
    return {
        "sweep": plan.name,
        "title": plan.title,
        "scale": plan.scale,
        "points": plan.points,
        "points_looked_at": plan.looked_at,
        "impossible": list(plan.impossible),
        "trials": plan.trials,
        "seeds": plan.seeds,
        "parameters": list(plan.parameters),
        "flops_a_run": plan.flops,
        "flops": plan.total_flops,
        "seconds": None if plan.total_flops is None else plan.total_flops / plan.speed.flops_per_second,
        "speed": plan.speed.basis,
    }


def to_text(plan: SweepPlan) -> str:
    """The plan as a person reads it."""
    size = "no end of points" if plan.points is None else f"{plan.points:,} points"
    trials = "until its budget is used up" if plan.trials is None else f"{plan.trials} trials"
    seeds = "" if plan.seeds == 1 else f", {plan.seeds} seeds each"
    low, high = plan.parameters
    lines = [
        f"{plan.name}: {plan.title}",
        f"  {size}; {trials}{seeds}{'' if plan.scale is None else f'; scale {plan.scale}'}",
        f"  parameters {low:,}" + ("" if low == high else f" to {high:,}"),
        f"  {plan.flops:.3g} FLOPs a run on average",
    ]
    if plan.total_flops is not None:
        hours = plan.total_flops / plan.speed.flops_per_second / 3600
        lines.append(f"  {plan.total_flops:.3g} FLOPs, {hours:.1f} device-hours ({plan.speed.basis})")
    if plan.impossible:
        lines.append(f"  {len(plan.impossible)} of {plan.looked_at} points looked at are impossible, such as:")
        lines.append(f"    {plan.impossible[0]}")
    return "\n".join(lines)
