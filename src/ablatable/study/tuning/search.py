"""The search of a row: an ordinary sweep over the tuned settings, on development data alone, made from a study's file.

Its name holds a digest of all that decides which trials it has. So a changed row, range or sampler is another search,
and a larger number of trials goes on with the one there is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from ablatable.config.identity import run_id
from ablatable.config.layers import Layer, Setting
from ablatable.config.schema import Experiment
from ablatable.config.yaml_file import Document
from ablatable.errors import InputError
from ablatable.study.resolve import Fingerprint, layers_by_row, scale_of
from ablatable.study.schema import Row, RowRuns, Study
from ablatable.study.sweep.domains import Point
from ablatable.study.sweep.ground import Ground
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.schema import Budget, Objective, Sweep
from ablatable.study.sweep.space import inert, space_of
from ablatable.study.tuning.load import places
from ablatable.study.tuning.schema import Tuning
from ablatable.study.values import Setting as Value

_VERSION = 1
"""Raised only when the same file comes to mean other trials."""
_LONGEST_NAME = 60
_COUNTED = 10_000
"""Spaces of more points are taken to have no end."""


@dataclass(frozen=True)
class Search:
    """A row's search. ``left_out``: tuned settings that mean nothing in it; ``points`` None: no end of them."""

    row: Row
    tuning: Tuning
    plan: Plan
    left_out: tuple[str, ...]
    points: int | None

    @property
    def name(self) -> str:
        """Of the sweep: its trials are kept in `runs/sweeps/<name>`."""
        return self.plan.sweep.name

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings it searches."""
        return tuple(parameter.path for parameter in self.plan.space.parameters)

    @property
    def asked(self) -> int:
        """Trials it is to have: those of the file, or every point where there are fewer."""
        return self.tuning.trials if self.points is None else min(self.tuning.trials, self.points)


@dataclass(frozen=True)
class Searches:
    """A study's searches at a scale by row, and what each row is made of below its tuned settings."""

    by_row: Mapping[str, Search]
    grounds: Mapping[str, Ground]

    def of(self, row: str) -> Search:
        """The search whose settings serve a row: its own, or the only one there is."""
        return self.by_row[row] if row in self.by_row else next(iter(self.by_row.values()))


def searches_of(
    study: Study, scale: str, rows: Sequence[RowRuns], fingerprint: Fingerprint, experiment: str | None = None
) -> Searches:
    """The searches that a study's tuning asks for.

    Args:
        study: a study with `tuning`.
        scale: name of a scale.
        rows: its rows as they are without tuning.
        fingerprint: of a corpus.
        experiment: another baseline than the study's own.

    Raises:
        InputError: a range that can't be, or a row in which none of the settings means anything.
    """
    tuning = study.tuning
    if tuning is None:
        raise ValueError(f"study {study.name} tunes nothing")
    used = scale_of(study, scale)
    lines = places(tuning, study.origin)
    origin = Document(
        study.origin.path,
        study.origin.data,
        {("space", path): line for path, line in lines.items()},
    )
    layers = layers_by_row(study, used, experiment)
    at = {path: origin.where("space", path) for path in tuning.axes}
    grounds = {name: Ground(tuple(found), {}, used, 1, at) for name, found in layers.items()}
    searched = rows if tuning.per == "row" else [row for row in rows if row.row == study.baseline_row]
    return Searches(
        {
            row.row.name: _search(study, tuning, used.name, row, grounds[row.row.name], origin, fingerprint)
            for row in searched
        },
        grounds,
    )


def tuned_settings(searches: Searches, row: Row, point: Point) -> dict[str, Value]:
    """What a search's point sets in a row: not what the row sets itself, nor what means nothing there."""
    ground = searches.grounds[row.name]
    free = {path: value for path, value in point.items() if path not in row.changes}
    useless = inert(free, ground)
    return {path: value for path, value in free.items() if path not in useless}


def _search(
    study: Study, tuning: Tuning, scale: str, row: RowRuns, ground: Ground, origin: Document, fingerprint: Fingerprint
) -> Search:
    useless = inert(tuning.axes, ground)
    axes = {path: entry for path, entry in tuning.axes.items() if path not in useless}
    if not axes:
        raise InputError(
            f"{study.origin.where('tuning')}: row '{row.row.name}' has no use for {' and '.join(useless)}: "
            f"{useless[next(iter(useless))]}; add an axis that means something there, such as train.learning_rate"
        )
    layer: Layer = {"evaluate.splits": Setting(["valid"], study.origin.where("tuning"))}
    below = replace(ground, fixed=layer)
    sweep = Sweep(
        name="unnamed",
        title=f"{study.title}: {row.row.title}",
        experiment=study.baseline,
        objectives=(Objective(tuning.objective),),
        sampler=tuning.sampler,
        space=axes,
        scale=scale,
        pruner=tuning.pruner,
        budget=Budget(trials=tuning.trials),
        origin=origin,
    )
    plan = Plan(sweep, below, space_of(sweep, below))
    name = _name(study, scale, row, plan, fingerprint)
    plan = replace(plan, sweep=replace(sweep, name=name))
    size = plan.space.size
    points = None if size is None or size > _COUNTED else sum(1 for _ in plan.space.points())
    return Search(row.row, tuning, plan, tuple(useless), points)


def on_development_data(experiment: Experiment) -> Experiment:
    """The experiment as a trial scores it: the test set is for the final runs alone."""
    return replace(experiment, evaluate=replace(experiment.evaluate, splits=("valid",)))


def _name(study: Study, scale: str, row: RowRuns, plan: Plan, fingerprint: Fingerprint) -> str:
    first = on_development_data(row.experiments[0])
    said = {
        "version": _VERSION,
        "run": run_id(first, fingerprint(first.data)),
        "space": {one.path: [type(one.domain).__name__, asdict(one.domain)] for one in plan.space.parameters},
        "objective": plan.sweep.objectives[0].key,
        "sampler": asdict(plan.sweep.sampler),
        "pruner": asdict(plan.sweep.pruner),
    }
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    digest = hashlib.sha256(canonical.encode("ascii")).hexdigest()[:8]
    return f"{study.name}-{row.row.name}-{scale}"[: _LONGEST_NAME - 9] + f"-{digest}"
