"""Reading a sweep file: strict, and every complaint says which file, which line and what to write instead."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ablatable.config.locate import find
from ablatable.config.yaml_file import Document, read
from ablatable.errors import InputError, nearest
from ablatable.study.strict import Place, construct, refuse_unknown_keys
from ablatable.study.sweep.ground import Ground, ground_of
from ablatable.study.sweep.schema import COSTS, PER_PIECE, SCORES, Budget, Entry, Objective, Pruner, Sampler, Sweep
from ablatable.study.sweep.space import Space, space_of

AXIS = "axis"
"""Written in place of a range: what the axis declares."""

_Part = TypeVar("_Part")
_PARTS: dict[str, type[Sampler | Pruner | Budget]] = {"sampler": Sampler, "pruner": Pruner, "budget": Budget}
_EXAMPLES = {
    "sampler": "{kind: tpe}",
    "pruner": "{kind: median}",
    "budget": "{trials: 40}",
    "objectives": "{metric: nll}",
    "points": "{model.heads: 4, model.d_k: 64}",
}
INCOMPARABLE = ("tokenizer.", "data.corpus", "model.causal")
"""Settings under which a likelihood a piece is another quantity: other pieces, other text, or the future was seen."""


@dataclass(frozen=True)
class Plan:
    """A sweep that was read, with its ground and its space."""

    sweep: Sweep
    ground: Ground
    space: Space


def load_sweep(name_or_path: str | Path) -> Plan:
    """Read and check a sweep by name (`dropout-smoothing`) or by path (`sweeps/dropout-smoothing.yaml`).

    Raises:
        InputError: no such sweep, YAML syntax, an unknown key, setting or metric, a value out of its bounds, settings
            that exclude each other; the message names file, line and remedy.
    """
    origin = read(find("sweeps", str(name_or_path)))
    if "method" in origin.data:
        raise InputError(f"{origin.where('method')}: this is a sweep of W&B's; give it with --from-wandb {origin.path}")
    plan = plan_of(origin)
    _check_name(plan.sweep)
    check_end(plan.sweep)
    return plan


def plan_of(origin: Document) -> Plan:
    """Check what a document says; see :func:`load_sweep`. Whether the search ends is for :func:`check_end`."""
    sweep = _sweep_of(origin)
    with _naming(sweep):
        ground = ground_of(sweep)
        plan = Plan(sweep, ground, space_of(sweep, ground))
        _check_splits(plan)
        if sweep.sampler.kind == "grid":
            next(plan.space.points())
    return plan


def _sweep_of(origin: Document) -> Sweep:
    """What a document says by itself."""
    refuse_unknown_keys(origin.data, (), _keys(Sweep), origin)
    parts: dict[str, Any] = {
        name: part_of(cls, origin.data[name], (name,), origin) for name, cls in _PARTS.items() if name in origin.data
    }
    given: dict[str, Any] = {
        **origin.data,
        **parts,
        "space": {
            path: entry_of(path, value, ("space", path), origin) for path, value in _mapping("space", origin).items()
        },
        "objectives": tuple(_objectives(origin)),
        "points": tuple(_points(origin)),
        "fixed": _mapping("fixed", origin),
    }
    sweep = replace(construct(Sweep, given, (), origin, "sweep"), origin=origin)
    _check_objectives(sweep)
    _check_sampler(sweep)
    _check_pruner(sweep)
    return sweep


@contextmanager
def _naming(sweep: Sweep) -> Generator[None]:
    """Complaints about the experiment or the scale below also say which sweep asked for them."""
    try:
        yield
    except InputError as error:
        shown = sweep.origin.where()
        raise error if shown in str(error) else InputError(f"{shown}: {error}") from error


def _keys(cls: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if f.name != "origin")


def _mapping(key: str, origin: Document) -> dict[str, Any]:
    value = origin.data.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{origin.where(key)}: '{key}' takes `key: value` lines below it")
    return cast(dict[str, Any], value)


def part_of(cls: type[_Part], value: Any, place: Place, origin: Document) -> _Part:
    """A sampler, a pruner or a budget, from what stands at a place of a document.

    Raises:
        InputError: no mapping, or one that says what it cannot.
    """
    if not isinstance(value, dict):
        name = place[-1]
        raise InputError(f"{origin.where(*place)}: '{name}' is a mapping, such as {_EXAMPLES[str(name)]}")
    given = cast(dict[str, Any], value)
    refuse_unknown_keys(given, place, _keys(cls), origin)
    return construct(cls, given, place, origin, "sweep")


def entry_of(path: str, value: Any, place: Place, origin: Document) -> Entry:
    """What a searched setting may be, from what stands at a place of a document.

    Raises:
        InputError: it is no range and no list.
    """
    if value == AXIS:
        return Entry()
    where = origin.where(*place)
    if not isinstance(value, dict):
        raise InputError(
            f"{where}: say what {path} may be: {{low: ..., high: ...}}, {{values: [...]}}, or {AXIS} for the range its "
            "axis declares"
        )
    given = cast(dict[str, Any], value)
    refuse_unknown_keys(given, place, _keys(Entry), origin)
    if isinstance(given.get("values"), list):
        given = {**given, "values": tuple(given["values"])}
        if not given["values"]:
            raise InputError(f"{where}: 'values' is empty; name one value at least")
    return construct(Entry, given, place, origin, "sweep")


def _items(key: str, origin: Document) -> Iterator[tuple[int, dict[str, Any]]]:
    value = origin.data.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{origin.where(key)}: '{key}' is a list; begin each entry with '- '")
    for i, item in enumerate(cast(list[Any], value)):
        if not isinstance(item, dict):
            raise InputError(f"{origin.where(key, i)}: an entry of '{key}' is a mapping, such as {_EXAMPLES[key]}")
        yield i, cast(dict[str, Any], item)


def _objectives(origin: Document) -> Iterator[Objective]:
    for i, item in _items("objectives", origin):
        place = ("objectives", i)
        refuse_unknown_keys(item, place, _keys(Objective), origin)
        yield construct(Objective, item, place, origin, "sweep")


def _points(origin: Document) -> Iterator[dict[str, Any]]:
    for i, item in _items("points", origin):
        for path, value in item.items():
            if isinstance(value, dict | list):
                raise InputError(f"{origin.where('points', i, path)}: {path} takes one value; write its dotted path")
        yield item


def _check_name(sweep: Sweep) -> None:
    at = sweep.origin.where
    if sweep.name != sweep.origin.path.stem:
        raise InputError(
            f"{at('name')}: name '{sweep.name}' differs from the file's name; rename one, since a search is kept under "
            "the sweep's name"
        )


def _check_objectives(sweep: Sweep) -> None:
    for i, objective in enumerate(sweep.objectives):
        where = sweep.origin.where("objectives", i)
        known = (*SCORES, *COSTS)
        if objective.metric not in known:
            hint = nearest(objective.metric, known) or f"; known: {', '.join(known)}"
            raise InputError(f"{where}: unknown metric '{objective.metric}'{hint}")
        if objective.split != "valid":
            raise InputError(
                f"{where}: a search selects on development data alone; write 'split: valid', or leave it out "
                f"(got '{objective.split}')"
            )
        if objective.better not in (None, objective.direction):
            raise InputError(
                f"{where}: of {objective.metric} the {objective.direction} is better; correct 'better' or leave it out"
            )
        if objective.metric in [other.metric for other in sweep.objectives[:i]]:
            raise InputError(f"{where}: objective '{objective.metric}' is there twice; remove one")
        if objective.metric in PER_PIECE:
            _refuse_incomparable(sweep, where, f"{objective.metric} is measured a piece", "take bpc or bleu")


def _refuse_incomparable(sweep: Sweep, where: str, fact: str, remedy: str) -> None:
    searched = [*sweep.space, *(path for point in sweep.points for path in point)]
    for path in searched:
        if path.startswith(INCOMPARABLE):
            raise InputError(f"{where}: {fact} and this sweep searches {path}, which changes what that means; {remedy}")


def _check_sampler(sweep: Sweep) -> None:
    at = sweep.origin.where
    kind = sweep.sampler.kind
    if kind == "list" and (sweep.space or not sweep.points):
        raise InputError(f"{at('sampler')}: the sampler list goes through 'points'; give those, and no 'space'")
    if kind != "list" and (sweep.points or not sweep.space):
        raise InputError(f"{at('sampler')}: the sampler {kind} searches a 'space'; give that, and no 'points'")


def check_end(sweep: Sweep) -> None:
    """Refuse a search that would go on for ever.

    Raises:
        InputError: a sampler that draws, and no budget.
    """
    if not sweep.enumerated and not sweep.budget.limited:
        raise InputError(
            f"{sweep.origin.where('sampler')}: the sampler {sweep.sampler.kind} has no end; give a 'budget', such as "
            "{trials: 40} (in a W&B file, a 'run_cap'), or --trials"
        )


def _check_pruner(sweep: Sweep) -> None:
    if sweep.pruner.kind == "none":
        return
    where = sweep.origin.where("pruner")
    if len(sweep.objectives) > 1:
        raise InputError(f"{where}: a pruner compares one objective and there are {len(sweep.objectives)}; remove it")
    metric = next(objective.metric for objective in sweep.objectives)
    if metric not in SCORES:
        raise InputError(f"{where}: a pruner compares validations, which tell nothing of {metric}; remove it")
    _refuse_incomparable(sweep, where, "a pruner compares the likelihood a piece", "remove the pruner")


def _check_splits(plan: Plan) -> None:
    splits = plan.ground.value("evaluate.splits")
    where = plan.sweep.origin.where("experiment")
    if "test" in splits:
        raise InputError(
            f"{where}: the experiment scores the test set, and a search may not; fix evaluate.splits to [valid]"
        )
