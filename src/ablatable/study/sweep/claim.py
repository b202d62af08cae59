"""Taking the next trial: what several processes do one after the other, and what a kill in the middle cannot spoil.

A trial is stored with its whole point while it waits, then taken. Killed before it is taken, it waits for the next
process; killed later, its owner is found dead and it waits again. So a point has one trial, whatever dies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ablatable.config.layers import said
from ablatable.config.schema import Experiment
from ablatable.errors import InputError
from ablatable.study.estimate import cost_of
from ablatable.study.sweep import trials as kept
from ablatable.study.sweep.domains import Point
from ablatable.study.sweep.keeper import Keeper, directions
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.samplers import propose
from ablatable.study.sweep.trials import Stored, Tried, spent, tried, used_up

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

_DEATHS = 10
"""After so many deaths of processes that ran a trial, the trial is what they died of."""
_SKIPS = 100
"""So many points in a row that the settings don't allow end a search."""


@dataclass(frozen=True)
class Claimed:
    """A trial this process runs now."""

    number: int
    trial_id: int
    point: Point
    experiments: tuple[Experiment, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Nothing:
    """No trial may begin. `running`: trials of other processes, whose points come back if those die."""

    why: str
    running: int


Identify = Callable[[Experiment], str]
"""The run id of an experiment."""


class Desk:
    """Hands out the trials of a sweep, one process at a time."""

    def __init__(self, keeper: Keeper, study: optuna.Study, plan: Plan, identify: Identify) -> None:
        self._keeper = keeper
        self._study = study
        self._storage = keeper.storage
        self._study_id = keeper.storage.get_study_id_from_name(study.study_name)
        self._plan = plan
        self._identify = identify

    def trials(self) -> list[Tried]:
        """Every trial, in the order of their numbers."""
        return tried(self._frozen())

    def claim(self) -> Claimed | Nothing:
        """Take the next trial: one that waits, be it for the death of its process, or a new point.

        Raises:
            InputError: nothing but impossible points comes up.
        """
        with self._keeper.exclusive():
            self._bury_the_dead()
            while True:
                trials = self.trials()
                waiting = next((trial for trial in trials if trial.state == "waiting"), None)
                if waiting is not None:
                    claimed = self._take(waiting)
                    if claimed is not None:
                        return claimed
                    continue
                nothing = self._new(trials)
                if nothing is not None:
                    return nothing

    def _frozen(self) -> list[FrozenTrial]:
        return self._storage.get_all_trials(self._study_id, deepcopy=False)

    def _id(self, number: int) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._study_id, number)

    def report(self, claimed: Claimed, step: int, value: float) -> bool:
        """Tell what a trial's run has reached at an update; gives whether it should be pruned."""
        if not self._put(lambda: self._storage.set_trial_intermediate_value(claimed.trial_id, step, value)):
            return False
        return self._study.pruner.prune(self._study, self._storage.get_trial(claimed.trial_id))

    def finish(
        self, claimed: Claimed, state: Stored, values: Sequence[float] | None, attributes: Mapping[str, Any]
    ) -> bool:
        """Tell how a trial ended. False: another process was faster, having taken this one for dead."""

        def tell() -> None:
            for name, value in attributes.items():
                self._storage.set_trial_user_attr(claimed.trial_id, name, value)
            self._set(claimed.trial_id, state, values)

        return self._put(tell)

    def give_back(self, claimed: Claimed) -> None:
        """Let a trial wait for the next process, because this one stops."""
        self._put(lambda: self._set(claimed.trial_id, "WAITING"))

    def reported(self, claimed: Claimed) -> int:
        """The latest update a trial has told of; 0 before the first."""
        return self._storage.get_trial(claimed.trial_id).last_step or 0

    def _set(self, trial_id: int, state: Stored, values: Sequence[float] | None = None) -> None:
        from optuna.trial import TrialState

        self._storage.set_trial_state_values(trial_id, TrialState[state], values)

    def _put(self, write: Callable[[], object]) -> bool:
        """Write; False where the trial is finished already."""
        from optuna.exceptions import UpdateFinishedTrialError

        try:
            write()
        except UpdateFinishedTrialError:
            return False
        return True

    def _bury_the_dead(self) -> None:
        for trial in self.trials():
            if trial.state == "running" and self._keeper.dead(trial.frozen, trial.attribute(kept.OWNER)):
                self._bury(trial, 1 + (trial.attribute(kept.DEATHS) or 0))

    def _bury(self, trial: Tried, deaths: int) -> None:
        id = self._id(trial.number)

        def tell() -> None:
            self._storage.set_trial_user_attr(id, kept.DEATHS, deaths)
            if deaths >= _DEATHS:
                self._storage.set_trial_user_attr(id, kept.CAUSE, f"{deaths} processes died while they ran it")
            self._set(id, "WAITING" if deaths < _DEATHS else "FAIL")

        self._put(tell)  # it may have finished in this very moment

    def _take(self, waiting: Tried) -> Claimed | None:
        """Make a waiting trial this process's. None: it was no point of this space, or is an impossible one."""
        id = self._id(waiting.number)
        point = self._point_of(waiting)
        if point is None:
            self._refuse(id, "it was put there by hand and is no point of this space")
            return None
        try:
            experiments = self._plan.ground.repeats(point)
        except InputError as error:
            self._refuse(id, str(error))
            return None
        ids = tuple(self._identify(one) for one in experiments)
        self._storage.set_trial_user_attr(id, kept.OWNER, self._keeper.owner)
        self._storage.set_trial_user_attr(id, kept.RUNS, list(ids))
        self._keeper.beat(id)
        self._set(id, "RUNNING")
        return Claimed(waiting.number, id, point, experiments, ids)

    def _point_of(self, waiting: Tried) -> Point | None:
        """The point of a waiting trial, also of one enqueued by hand (optuna-dashboard, `study.enqueue_trial`)."""
        fixed: Any = waiting.frozen.system_attrs.get("fixed_params")
        point: dict[str, Any] = dict(fixed) if fixed and not waiting.point else waiting.point
        if not self._plan.space.admits(point):
            return None
        for path, distribution in self._plan.space.distributions(point).items():
            if path not in waiting.point:
                internal = distribution.to_internal_repr(point[path])
                self._storage.set_trial_param(self._id(waiting.number), path, internal, distribution)
        return point

    def _refuse(self, id: int, cause: str) -> None:
        self._storage.set_trial_user_attr(id, kept.SKIPPED, True)
        self._storage.set_trial_user_attr(id, kept.CAUSE, cause)
        self._set(id, "FAIL")

    def _new(self, trials: Sequence[Tried]) -> Nothing | None:
        """Store a new point that waits; or say why there is none."""
        running = [trial.number for trial in trials if trial.state == "running"]
        limit = used_up(self._plan.sweep.budget, spent(trials, time.time()))
        if limit is not None:
            return Nothing(f"the budget is used up: {limit}", len(running))
        proposal = propose(
            self._plan, [trial.frozen for trial in trials], kept.keys(trials), directions(self._plan.sweep)
        )
        if proposal is None:
            return Nothing("every point was tried", len(running))
        point = proposal.point
        attributes: dict[str, Any] = {kept.SETTINGS: [f"{path}={said(value)}" for path, value in point.items()]}
        try:
            experiments = self._plan.ground.repeats(point)
        except InputError as error:
            self._refuse_endless_skips(trials, str(error))
            attributes |= {kept.SKIPPED: True, kept.CAUSE: str(error)}
            self._store(point, "FAIL", attributes, proposal.system_attrs)
            return None
        attributes[kept.SPENT] = {self._identify(one): [0.0, cost_of(one).flops] for one in experiments}
        if running and not self._plan.sweep.enumerated:
            attributes[kept.BESIDE] = running
        self._store(point, "WAITING", attributes, proposal.system_attrs)
        return None

    def _refuse_endless_skips(self, trials: Sequence[Tried], cause: str) -> None:
        latest = trials[-_SKIPS:]
        if not self._plan.sweep.enumerated and len(latest) == _SKIPS and all(t.state == "skipped" for t in latest):
            raise InputError(
                f"{self._plan.sweep.origin.where('space')}: {_SKIPS} points in a row are impossible, the last because "
                f"of: {cause}; narrow the space"
            )

    def _store(self, point: Point, state: Stored, user_attrs: dict[str, Any], system_attrs: dict[str, Any]) -> None:
        from optuna.trial import TrialState, create_trial

        frozen = create_trial(
            state=TrialState[state],
            params=dict(point),
            distributions=self._plan.space.distributions(point),
            user_attrs=user_attrs,
            system_attrs=system_attrs,
        )
        self._study.add_trial(frozen)
