"""Which point comes next: enumerated by us, or proposed by Optuna from a copy of what was tried.

A proposal is a pure function of the space, the trials so far and the sampler's seed: every trial has a sampler of its
own, seeded by the trial's number. So a search goes on after a stop as if it had not stopped, and never repeats a point:
a point that was there is drawn again with another seed, before anything is stored.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ablatable.study.sweep.domains import Point
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.schema import Sampler
from ablatable.study.sweep.space import key

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial

Directions: TypeAlias = Sequence[Literal["minimize", "maximize"]]

STARTUP = 10
"""Random points before a model is asked, where nothing is said."""
_DRAWS = 50
"""Draws before a small space is searched for a point that is left."""
_LARGEST_LISTED = 100_000


@dataclass(frozen=True)
class Proposal:
    """A point nobody has tried, and what its sampler wants to remember of it."""

    point: Point
    system_attrs: dict[str, Any] = field(default_factory=dict[str, Any])


def propose(plan: Plan, trials: Sequence[FrozenTrial], tried: set[str], directions: Directions) -> Proposal | None:
    """The next point; None where every point of the space was tried.

    Args:
        plan: the sweep.
        trials: all trials of the study, in the order of their numbers.
        tried: keys of the points that count as tried.
        directions: of the study.
    """
    if plan.sweep.enumerated:
        return next((Proposal(point) for point in plan.space.points() if key(point) not in tried), None)
    for draw in range(_DRAWS):
        proposal = _draw(plan, trials, directions, _seed(plan.sweep.sampler.seed, len(trials), draw))
        if key(proposal.point) not in tried:
            return proposal
    return _left(plan, tried, _seed(plan.sweep.sampler.seed, len(trials), _DRAWS))


def waits_for_results(sampler: Sampler, number: int) -> bool:
    """Whether the point of the trial of that number depends on what came of those before it."""
    return sampler.kind in ("tpe", "gp") and number >= (sampler.startup or STARTUP)


def _seed(seed: int, number: int, draw: int) -> int:
    digest = hashlib.sha256(f"{seed} {number} {draw}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _draw(plan: Plan, trials: Sequence[FrozenTrial], directions: Directions, seed: int) -> Proposal:
    import optuna

    from ablatable.study.sweep.pruners import pruner_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each kind has advice on what is not its strength; the file's author chose
        copy = optuna.create_study(
            study_name=plan.sweep.name,
            directions=directions,
            sampler=KINDS[plan.sweep.sampler.kind](plan.sweep.sampler, seed),
            pruner=pruner_of(plan),
        )
        copy.add_trials(trials)
        trial = copy.ask()
        point = plan.space.suggest(trial)
    return Proposal(point, dict(copy.trials[-1].system_attrs))


def _left(plan: Plan, tried: set[str], seed: int) -> Proposal | None:
    """Any point that is left of a small space; of one too large to list none: all draws were repeats."""
    if any(parameter.domain.listed is None for parameter in plan.space.parameters):
        return None
    points = itertools.islice(plan.space.points(), _LARGEST_LISTED)
    left = [point for point in points if key(point) not in tried]
    return Proposal(random.Random(seed).choice(left)) if left else None


def _random(_: Sampler, seed: int) -> BaseSampler:
    from optuna.samplers import RandomSampler

    return RandomSampler(seed=seed)


def _tpe(chosen: Sampler, seed: int) -> BaseSampler:
    from optuna.samplers import TPESampler

    # group: settings that mean something only beside others are modelled where they do.
    return TPESampler(
        seed=seed, n_startup_trials=chosen.startup or STARTUP, multivariate=True, group=True, constant_liar=True
    )


def _gp(chosen: Sampler, seed: int) -> BaseSampler:
    from optuna.samplers import GPSampler  # imports torch

    return GPSampler(seed=seed, n_startup_trials=chosen.startup or STARTUP)


def _nsga2(chosen: Sampler, seed: int) -> BaseSampler:
    from optuna.samplers import NSGAIISampler

    return NSGAIISampler(seed=seed, population_size=chosen.population or 20)


KINDS: dict[str, Callable[[Sampler, int], BaseSampler]] = {"random": _random, "tpe": _tpe, "gp": _gp, "nsga2": _nsga2}
"""Optuna's samplers by our names; grid and list are enumerated."""
