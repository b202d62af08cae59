"""W&B's `early_terminate` against our pruners.

What W&B calls hyperband is one bracket of successive halving, counted in reports of the metric: after `min_iter`,
`min_iter * eta`, ... of them, a run that is not among the best `1/eta` is stopped. Our `asha` is the same, counted in
updates; a report of the development loss comes with each validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ablatable.config.yaml_file import Document
from ablatable.errors import InputError
from ablatable.study.strict import refuse_unknown_keys
from ablatable.study.sweep.load import Plan

_KEYS = ("type", "min_iter", "max_iter", "s", "eta", "strict")
_CURVES = {"nll": "valid/nll", "ppl": "valid/ppl"}
"""What a run reports while it trains, by objective."""


def metric_on_the_way(plan: Plan) -> str | None:
    """The name of the sweep's objective in a run's curves; None: it is known at the end alone."""
    return _CURVES.get(plan.sweep.objectives[0].metric)


def written(plan: Plan) -> tuple[dict[str, Any] | None, list[str]]:
    """`early_terminate` for a sweep, None where it has none; and what the two do differently."""
    pruner, every = plan.sweep.pruner, int(plan.ground.value("train.validate_every"))
    if pruner.kind == "none":
        return None, []
    if pruner.kind == "median":
        return None, ["W&B has no counterpart of the pruner median: every run trains to its end."]
    if metric_on_the_way(plan) is None:
        metric = plan.sweep.objectives[0].metric
        return None, [f"W&B stops runs by the metric itself, and {metric} is known at the end: every run trains to it."]
    first = pruner.first or every
    notes: list[str] = []
    if pruner.kind == "hyperband":
        notes.append("W&B keeps one of hyperband's brackets, the one that stops first.")
    if first % every:
        notes.append(f"W&B counts validations: the first stop is at update {-(-first // every) * every}, not {first}.")
    # strict: as here, a run is judged by what it reports at the rung, not by the best it ever reported.
    return {"type": "hyperband", "min_iter": -(-first // every), "eta": pruner.factor or 3, "strict": True}, notes


def read(origin: Document, every: int) -> dict[str, Any]:
    """The `pruner` of one of our files for a W&B sweep's `early_terminate`.

    Args:
        origin: the W&B file.
        every: updates between two validations.

    Raises:
        InputError: another kind, or numbers that make no rungs.
    """
    where = origin.where("early_terminate")
    if not isinstance(origin.data["early_terminate"], dict):
        raise InputError(f"{where}: 'early_terminate' is a mapping, such as {{type: hyperband, min_iter: 3}}")
    given = cast(dict[str, Any], origin.data["early_terminate"])
    refuse_unknown_keys(given, ("early_terminate",), _KEYS, origin)
    if given.get("type") != "hyperband":
        raise InputError(f"{where}: early_terminate has the type {given.get('type')!r}; W&B knows hyperband alone")
    eta = given.get("eta", 3)
    if isinstance(eta, bool) or not isinstance(eta, int | float) or eta != int(eta) or eta < 2:
        raise InputError(f"{where}: eta ({eta}) is a whole number from 2 here; correct it")
    return {"kind": "asha", "first": _first(given, int(eta), where) * every, "factor": int(eta)}


def _first(given: Mapping[str, Any], eta: int, where: str) -> int:
    """Validations before the first rung."""
    counts = {key: given[key] for key in ("min_iter", "max_iter", "s") if key in given}
    for key, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(f"{where}: {key} ({count}) is a whole number from 1; correct it")
    if {"max_iter", "s"} <= counts.keys():  # as W&B: the rungs are max_iter / eta, / eta^2, ..., s of them
        rungs = [int(counts["max_iter"] / eta**n) for n in range(1, counts["s"] + 1)]
        possible = [rung for rung in rungs if rung >= 1]
        if not possible:
            raise InputError(
                f"{where}: max_iter ({counts['max_iter']}) is below eta ({eta}), so that no run is stopped"
            )
        return min(possible)
    if "min_iter" not in counts:
        raise InputError(f"{where}: hyperband has a min_iter, or max_iter and s; add them")
    return counts["min_iter"]
