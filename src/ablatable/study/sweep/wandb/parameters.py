"""One parameter of a W&B sweep against one searched setting of ours, either way.

The distributions are those of W&B's own search engine (the package `sweeps`, 0.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias, cast

from ablatable.config.tree import leaf
from ablatable.config.yaml_file import Document
from ablatable.errors import InputError, nearest
from ablatable.study.strict import Place, refuse_unknown_keys
from ablatable.study.sweep.domains import Choice, Domain, is_whole
from ablatable.study.sweep.schema import Number

Method: TypeAlias = Literal["grid", "random", "bayes"]

_KEYS: dict[str, tuple[str, ...]] = {
    "constant": ("value",),
    "categorical": ("values",),
    "categorical_w_probabilities": ("values", "probabilities"),
    "int_uniform": ("min", "max"),
    "uniform": ("min", "max"),
    "log_uniform_values": ("min", "max"),
    "q_uniform": ("min", "max", "q"),
    "q_log_uniform_values": ("min", "max", "q"),
}
"""Distributions that have a counterpart here, and what each needs."""

_BY_KEY = {"value": "constant", "probabilities": "categorical_w_probabilities", "values": "categorical"}
"""What a parameter is that names no distribution but has such a key."""

_REFUSED = {
    **dict.fromkeys(("log_uniform", "inv_log_uniform", "q_log_uniform"), "W&B gave it up; write log_uniform_values"),
    "inv_log_uniform_values": "write log_uniform_values",
    **dict.fromkeys(
        ("normal", "q_normal", "log_normal", "q_log_normal", "beta", "q_beta"),
        "a search here draws from bounded ranges alone; write uniform or log_uniform_values with min and max",
    ),
}
"""Distributions that have none, and what to write instead."""


@dataclass(frozen=True)
class Constant:
    """The same value in every run."""

    value: Any


@dataclass(frozen=True)
class Searched:
    """An entry of a `space`, as our files write it."""

    entry: dict[str, Any]


def written(domain: Domain, method: Method) -> dict[str, Any]:
    """A searched setting as a parameter of W&B."""
    if isinstance(domain, Choice):
        return {"values": list(domain.values)}
    low, high = domain.low, domain.high
    if domain.step is not None:
        # W&B's steps are multiples of q, and its grid leaves out the last: a list says what is meant.
        if method == "grid" or not _divides(domain.step, low):
            return {"values": list(domain.listed or ())}
        return {"min": low, "max": high, "distribution": "q_uniform", "q": domain.step}
    if domain.whole:
        kind = {"distribution": "q_log_uniform_values", "q": 1} if domain.log else {"distribution": "int_uniform"}
    else:
        kind = {"distribution": "log_uniform_values" if domain.log else "uniform"}
    return {"min": low, "max": high, **kind}


def flattened(origin: Document) -> Iterator[tuple[str, Place, dict[str, Any]]]:
    """Path, place in the file and content of every parameter; nested ones by their dotted path.

    Raises:
        InputError: `parameters` is missing or of another form.
    """
    if "parameters" not in origin.data:
        raise InputError(f"{origin.where()}: a W&B sweep has 'parameters'; add them")
    yield from _below(origin.data["parameters"], ("parameters",), "", origin)


def _below(given: Any, place: Place, prefix: str, origin: Document) -> Iterator[tuple[str, Place, dict[str, Any]]]:
    if not isinstance(given, dict) or not given:
        raise InputError(f"{origin.where(*place)}: 'parameters' takes a mapping for each parameter below it")
    for name, content in cast(dict[str, Any], given).items():
        here = (*place, name)
        if not isinstance(content, dict):
            raise InputError(f"{origin.where(*here)}: {prefix}{name} is a mapping, such as {{values: [1, 2]}}")
        inner = cast(dict[str, Any], content)
        if "parameters" in inner:
            refuse_unknown_keys(inner, here, ("parameters",), origin)
            yield from _below(inner["parameters"], (*here, "parameters"), f"{prefix}{name}.", origin)
        else:
            yield f"{prefix}{name}", here, inner


def read(path: str, place: Place, given: Mapping[str, Any], origin: Document, method: Method) -> Constant | Searched:
    """A parameter of W&B as one of ours.

    Raises:
        InputError: an unknown setting, or a distribution that has no counterpart.
    """
    where = origin.where(*place)
    whole = is_whole(leaf(path, where))
    kind = _kind(path, given, where)
    refuse_unknown_keys(given, place, ("distribution", *_KEYS[kind]), origin)
    missing = [key for key in _KEYS[kind] if key not in given and key != "q"]
    if missing:
        raise InputError(f"{where}: {path} is {kind} and has no {' and no '.join(missing)}; add it")
    if kind == "constant":
        return Constant(given["value"])
    if kind.startswith("categorical"):
        _check_even(path, given, where)
        return Searched({"values": given["values"]})
    return Searched(_interval(path, kind, given, where, method, whole=whole))


def _kind(path: str, given: Mapping[str, Any], where: str) -> str:
    """The distribution: the one that is named, or that W&B takes where none is."""
    kind = given.get("distribution")
    if kind is None:
        named = next((meant for key, meant in _BY_KEY.items() if key in given), None)
        whole = all(isinstance(given.get(bound), int) for bound in ("min", "max"))
        return named or ("int_uniform" if whole else "uniform")
    if kind in _REFUSED:
        raise InputError(f"{where}: {path} has the distribution {kind}, which is not drawn here: {_REFUSED[kind]}")
    if kind not in _KEYS:
        hint = nearest(str(kind), _KEYS) or f"; known: {', '.join(_KEYS)}"
        raise InputError(f"{where}: {path} has the unknown distribution '{kind}'{hint}")
    return str(kind)


def _check_even(path: str, given: Mapping[str, Any], where: str) -> None:
    if not isinstance(given["values"], list):
        raise InputError(f"{where}: the values of {path} are a list; write values: [...]")
    for value in cast(list[Any], given["values"]):
        if isinstance(value, dict | list):
            raise InputError(f"{where}: {path} takes one value at a time: a number, text, true, false or null")
    if len(set(map(str, given.get("probabilities", ())))) > 1:
        raise InputError(f"{where}: {path} has uneven probabilities, which no sampler here draws by; leave them out")


def _interval(
    path: str, kind: str, given: Mapping[str, Any], where: str, method: Method, *, whole: bool
) -> dict[str, Any]:
    low, high, step = given["min"], given["max"], given.get("q", 1)
    for number in (low, high, step):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InputError(f"{where}: min, max and q of {path} are numbers, not {number!r}")
    if low >= high:
        raise InputError(f"{where}: min ({low}) of {path} is not below its max ({high})")
    bounds = {"low": low, "high": high}
    match kind:
        case "int_uniform":
            return bounds if whole else {**bounds, "step": 1}
        case "q_uniform":
            return _stepped(path, low, high, step, where, method)
        case "q_log_uniform_values":
            if not whole or step != 1:
                raise InputError(
                    f"{where}: {path} is drawn in steps of {step} of a logarithm, which is done here for whole numbers "
                    "and q: 1 alone; list the values"
                )
            return {**bounds, "log": True}
        case _:
            if whole:
                known = "int_uniform" if kind == "uniform" else "q_log_uniform_values with q: 1"
                raise InputError(f"{where}: {path} is a whole number, which {kind} does not draw; write {known}")
            return {**bounds, "log": True} if kind == "log_uniform_values" else bounds


def _stepped(path: str, low: Number, high: Number, step: Number, where: str, method: Method) -> dict[str, Any]:
    """Steps of `q`: in a grid from min up to below max, else the multiples of `q`, as W&B has them."""
    if step <= 0:
        raise InputError(f"{where}: q of {path} is above zero, not {step}")
    if method == "grid":
        exact_low, exact_step, exact_high = (Decimal(str(number)) for number in (low, step, high))
        count = math.ceil((exact_high - exact_low) / exact_step)
        kind = int if isinstance(low, int) and isinstance(step, int) else float
        return {"values": [kind(exact_low + n * exact_step) for n in range(count)]}
    if not _divides(step, low) or not _divides(step, high):
        raise InputError(
            f"{where}: min and max of {path} are no multiples of q ({step}), as its values are; correct them"
        )
    return {"low": low, "high": high, "step": step}


def _divides(step: Number, number: Number) -> bool:
    return Decimal(str(number)) % Decimal(str(step)) == 0
