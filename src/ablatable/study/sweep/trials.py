"""A sweep's trials as they stand in its storage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from ablatable.study.sweep.schema import Budget
from ablatable.study.sweep.space import key

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

State = Literal["completed", "running", "waiting", "pruned", "failed", "skipped"]

STATES: tuple[State, ...] = ("completed", "running", "waiting", "pruned", "failed", "skipped")
"""completed, pruned, failed: as its runs ended. waiting: its point was chosen and no process runs it, or the one that
did died. skipped: the settings or the data don't allow the point; nothing was trained, and no budget is used."""

ENDED: tuple[State, ...] = ("completed", "pruned", "failed")
"""Those whose point was tried to an end."""

OWNER, DEATHS, CAUSE, SKIPPED, RUNS, SPENT, BESIDE, SETTINGS = (
    "owner",
    "deaths",
    "cause",
    "skipped",
    "runs",
    "spent",
    "beside",
    "settings",
)
"""Attributes of a trial. `deaths`: of processes that ran it; `spent`: seconds and FLOPs by run; `beside`: the trials
that ran when its point was chosen; `settings`: the point as `key=value` words."""

Stored = Literal["COMPLETE", "RUNNING", "WAITING", "PRUNED", "FAIL"]
"""Optuna's names of its states."""

_STATES: dict[str, State] = {
    "COMPLETE": "completed",
    "RUNNING": "running",
    "WAITING": "waiting",
    "PRUNED": "pruned",
}


@dataclass(frozen=True)
class Tried:
    """One trial."""

    number: int
    state: State
    frozen: FrozenTrial

    @property
    def point(self) -> dict[str, Any]:
        """Its settings by path."""
        return self.frozen.params

    @property
    def values(self) -> tuple[float, ...]:
        """Its objectives; none unless it is completed: what a pruned trial last reported is no result."""
        return tuple(self.frozen.values) if self.state == "completed" else ()

    @property
    def cause(self) -> str | None:
        """Why it was pruned, failed or skipped."""
        return self.attribute(CAUSE)

    @property
    def runs(self) -> list[str]:
        """Ids of its runs, one for each seed."""
        return self.attribute(RUNS) or []

    @property
    def spent(self) -> dict[str, tuple[float, float]]:
        """Seconds and FLOPs by run; of a trial that has not ended, no seconds and the FLOPs it was begun for."""
        told = cast(dict[str, tuple[float, float]], self.attribute(SPENT) or {})
        return {id: (seconds, flops) for id, (seconds, flops) in told.items()}

    def attribute(self, name: str) -> Any:
        """One of the attributes, None where it has not got it."""
        return self.frozen.user_attrs.get(name)


def tried(trials: Iterable[FrozenTrial]) -> list[Tried]:
    """The trials, in the order of their numbers."""
    return [Tried(trial.number, _state(trial), trial) for trial in trials]


def _state(trial: FrozenTrial) -> State:
    if trial.state.name != "FAIL":
        return _STATES[trial.state.name]
    return "skipped" if trial.user_attrs.get(SKIPPED) else "failed"


def counts(trials: Iterable[Tried]) -> dict[State, int]:
    """Number of trials in each state, states without any included."""
    found = Counter(trial.state for trial in trials)
    return {state: found[state] for state in STATES}


def keys(trials: Iterable[Tried]) -> set[str]:
    """Keys of all points there are, in whatever state."""
    return {key(trial.point) for trial in trials}


@dataclass(frozen=True)
class Spent:
    """What a sweep has used of its budget. Runs that were there already cost nothing; a run counts once."""

    trials: int
    hours: float
    flops: float


def spent(trials: Sequence[Tried], now: float) -> Spent:
    """Sum up; running trials count with the time since their start and the FLOPs they were begun for.

    Args:
        trials: of the sweep.
        now: seconds since the epoch.
    """
    begun = [trial for trial in trials if trial.state != "skipped"]
    by_run: dict[str, tuple[float, float]] = {}
    running_seconds = running_flops = 0.0
    for trial in trials:
        if trial.state == "running":
            start = trial.frozen.datetime_start
            running_seconds += 0.0 if start is None else max(0.0, now - start.timestamp())
            running_flops += sum(flops for _, flops in trial.spent.values())
        else:
            by_run |= trial.spent
    return Spent(
        trials=len(begun),
        hours=(running_seconds + sum(seconds for seconds, _ in by_run.values())) / 3600,
        flops=running_flops + sum(flops for _, flops in by_run.values()),
    )


def used_up(budget: Budget, so_far: Spent) -> str | None:
    """Which limit keeps another trial from beginning; None: it may begin."""
    if budget.trials is not None and so_far.trials >= budget.trials:
        return f"{so_far.trials} of {budget.trials} trials"
    if budget.hours is not None and so_far.hours >= budget.hours:
        return f"{so_far.hours:.2f} of {budget.hours:g} hours"
    if budget.flops is not None and so_far.flops >= budget.flops:
        return f"{so_far.flops:.3g} of {budget.flops:g} FLOPs"
    return None
