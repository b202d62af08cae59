"""What every point of a sweep starts from: the experiment, the scale over it, what the sweep fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ablatable.config import scale as scales
from ablatable.config.layers import Layer, Setting, from_document, value_in
from ablatable.config.load import experiment_layers, resolve
from ablatable.config.scale import Scale
from ablatable.config.schema import LARGEST_SEED, Experiment
from ablatable.config.tree import leaf
from ablatable.errors import InputError
from ablatable.study.sweep.schema import Sweep


@dataclass(frozen=True)
class Ground:
    """The layers below a point, the scale among them, and what the sweep fixes above the scale."""

    layers: tuple[Layer, ...]
    fixed: Layer
    scale: Scale | None
    seeds: int
    places: Mapping[str, str]
    """Where in the sweep's file each searched setting stands."""

    def value(self, path: str) -> Any:
        """A setting where no point says anything about it."""
        merged: Layer = {path: setting for layer in (*self.layers, self.fixed) for path, setting in layer.items()}
        return value_in(merged, path)

    def experiment(self, point: Mapping[str, Any]) -> Experiment:
        """The experiment of a point, with the first seed.

        Raises:
            InputError: the settings exclude each other.
        """
        over: Layer = {path: Setting(value, self.places.get(path, "sweep")) for path, value in point.items()}
        return resolve([*self.layers, self.fixed], overrides=over)

    def repeats(self, point: Mapping[str, Any]) -> tuple[Experiment, ...]:
        """The experiment of a point once for each seed."""
        first = self.experiment(point)
        return tuple(replace(first, seed=first.seed + n) for n in range(self.seeds))


def ground_of(sweep: Sweep) -> Ground:
    """Compose what a sweep's points have in common.

    Raises:
        InputError: an unknown experiment, scale or setting, or a fixed setting that no sweep may fix.
    """
    at = sweep.origin.where
    try:
        base = experiment_layers(sweep.experiment)
    except InputError as error:
        raise InputError(f"{at('experiment')}: {error}") from error
    scale = scales.load_scale(sweep.scale) if sweep.scale is not None else None
    composed: Layer = {path: setting for layer in base for path, setting in layer.items()}
    layers = (*base, *(scales.apply(scale, composed, {}) if scale is not None else []))
    fixed = from_document(sweep.origin, ("fixed",)) if sweep.fixed else {}
    places = {path: at("space", path) for path in sweep.space} | {
        path: at("points", i, path) for i, point in reversed(list(enumerate(sweep.points))) for path in point
    }
    ground = Ground(layers, fixed, scale, sweep.seeds, places)
    seed = ground.value("seed")
    if isinstance(seed, int) and seed + sweep.seeds - 1 > LARGEST_SEED:
        raise InputError(f"{at('seeds')}: seed={seed} leaves fewer than {sweep.seeds} numbers up to {LARGEST_SEED}")
    return ground


def check_searchable(path: str, where: str) -> None:
    """Refuse to search what is no design choice of a run.

    Raises:
        InputError: an unknown setting, the seed, the splits, or what only says how to run.
    """
    known = leaf(path, where)
    if path == "seed":
        raise InputError(f"{where}: a sweep can't search the seed; 'seeds' repeats every trial")
    if path == "evaluate.splits":
        raise InputError(f"{where}: a sweep can't search {path}: it selects on the development data alone")
    if not known.semantic:
        raise InputError(f"{where}: '{path}' says how to run, not what; a trial that sets it would be the same run")
