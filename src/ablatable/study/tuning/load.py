"""Reading the `tuning` of a study's file; complaints say which file, which line and what to write instead."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

from ablatable.config import tree
from ablatable.config.yaml_file import Document
from ablatable.errors import InputError, nearest
from ablatable.study.strict import construct, refuse_unknown_keys
from ablatable.study.sweep.ground import check_searchable
from ablatable.study.sweep.load import AXIS, INCOMPARABLE, entry_of, part_of
from ablatable.study.sweep.schema import PER_PIECE, SCORES, Entry, Pruner, Sampler
from ablatable.study.tuning.schema import Tuning

_EXAMPLE = "{axes: [train.learning_rate_factor], trials: 8, per: row}"
_KEYS = tuple(f.name for f in fields(Tuning))

NOT_TUNED = {
    "data.corpus": "rows would be trained on different text",
    "data.train_pairs": "rows would be trained on different amounts of text",
    "train.updates": "rows would be trained for different lengths",
    "train.max_target_tokens": "rows would be trained for different lengths",
    "train.max_minutes": "rows would be trained for different lengths",
    "train.batch_tokens": "rows would be trained on different numbers of tokens",
    "train.accumulate": "rows would be trained on different numbers of tokens",
}
"""Settings under which a table compares nothing any more, and why."""


def read_tuning(origin: Document) -> Tuning:
    """The tuning that a study's file asks for.

    Raises:
        InputError: an unknown key, setting, objective, or a setting that no row may have of its own.
    """
    value = origin.data["tuning"]
    if not isinstance(value, dict):
        raise InputError(f"{origin.where('tuning')}: 'tuning' is a mapping, such as {_EXAMPLE}")
    given = cast(dict[str, Any], value)
    refuse_unknown_keys(given, ("tuning",), _KEYS, origin)
    made: dict[str, Any] = {**given, "axes": _axes(given.get("axes"), origin)}
    for name, cls in (("sampler", Sampler), ("pruner", Pruner)):
        if name in given:
            made[name] = part_of(cls, given[name], ("tuning", name), origin)
    _check_objective(given.get("objective", "nll"), made["axes"], origin)
    return construct(Tuning, made, ("tuning",), origin, "study")


def places(tuning: Tuning, origin: Document) -> dict[str, int]:
    """The line of each tuned setting, by path."""
    where = {path: ("tuning", "axes", i) for i, path in enumerate(tuning.axes)}
    return {path: origin.lines[place] for path, place in where.items() if place in origin.lines}


def _axes(value: Any, origin: Document) -> dict[str, Entry]:
    if value is None:
        raise InputError(f"{origin.where('tuning')}: 'tuning.axes' is missing; name the settings to tune")
    if not isinstance(value, list):
        raise InputError(f"{origin.where('tuning', 'axes')}: 'axes' is a list, such as [train.learning_rate_factor]")
    found: dict[str, Entry] = {}
    for i, item in enumerate(cast(list[Any], value)):
        where = origin.where("tuning", "axes", i)
        path, entry = _axis(item, i, origin)
        _check_axis(path, where)
        if entry.when:
            raise InputError(
                f"{where}: 'when' has no use here: a row searches whatever means something in it; remove it"
            )
        if path in found:
            raise InputError(f"{where}: {path} is there twice; keep one")
        found[path] = entry
    return found


def _axis(item: Any, i: int, origin: Document) -> tuple[str, Entry]:
    if isinstance(item, str):
        return item, Entry()
    if isinstance(item, dict) and len(cast(dict[Any, Any], item)) == 1:
        ((path, value),) = cast(dict[Any, Any], item).items()
        return str(path), entry_of(str(path), value, ("tuning", "axes", i, str(path)), origin)
    raise InputError(
        f"{origin.where('tuning', 'axes', i)}: an axis is a path ({AXIS} range), or a path with its range, such as "
        "`train.warmup: {low: 100, high: 800}`"
    )


def _check_axis(path: str, where: str) -> None:
    tree.leaf(path, where)
    if path in NOT_TUNED:
        raise InputError(f"{where}: {path} can't be tuned: {NOT_TUNED[path]}; remove it")
    if path.startswith("evaluate."):
        raise InputError(f"{where}: {path} can't be tuned: it says how rows are measured; remove it")
    check_searchable(path, where)


def _check_objective(objective: Any, axes: dict[str, Entry], origin: Document) -> None:
    where = origin.where("tuning", "objective")
    if objective not in SCORES:
        hint = nearest(str(objective), SCORES) or f"; known: {', '.join(SCORES)}"
        raise InputError(
            f"{where}: unknown objective '{objective}': tuning takes a score on the development data{hint}"
        )
    for path in axes:
        if objective in PER_PIECE and path.startswith(INCOMPARABLE):
            raise InputError(
                f"{where}: {objective} is measured a piece and {path} changes what that means; say 'objective: bpc' or "
                "'objective: bleu'"
            )
        if objective in (*PER_PIECE, "bpc") and path.startswith("decode."):
            raise InputError(
                f"{where}: {path} changes no {objective}, which is measured without a search; say 'objective: bleu', "
                "or remove the axis"
            )
