"""Settings in layers: file over file, row over baseline, command line over all, each remembering where it was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from ablatable.config.schema import Experiment
from ablatable.config.tree import Leaf, leaf, leaves, sections, unmet
from ablatable.config.yaml_file import Document, parse_scalar
from ablatable.errors import InputError

_Built = TypeVar("_Built")


@dataclass(frozen=True)
class Setting:
    """A value and the place that gave it, such as ``experiments/base.yaml:12`` or ``command line``."""

    value: Any
    where: str


Layer = dict[str, Setting]


def from_document(document: Document, below: Sequence[str | int] = (), skip: Sequence[str] = ()) -> Layer:
    """Flatten the mapping of a YAML file (or of one of its keys) into a layer; nested or dotted keys both work."""
    node: Any = document.data
    for key in below:
        node = node[key]
    layer: Layer = {}
    _flatten(document, tuple(below), "", node, layer, frozenset(skip))
    return layer


def _flatten(
    document: Document, at: tuple[str | int, ...], prefix: str, node: Any, layer: Layer, skip: frozenset[str]
) -> None:
    if not isinstance(node, dict):
        raise InputError(f"{document.where(*at)}: expected `key: value` lines under '{at[-1] if at else ''}'")
    for key, value in cast(dict[Any, Any], node).items():
        where = document.where(*at, str(key))
        path = f"{prefix}{key}"
        if path in skip:
            continue
        if isinstance(value, dict):
            if path in leaves():
                raise InputError(f"{where}: {path} takes one value, not a block")
            _flatten(document, (*at, str(key)), f"{path}.", cast(dict[Any, Any], value), layer, frozenset())
            continue
        if value is None and path not in leaves() and any(known.startswith(f"{path}.") for known in leaves()):
            continue  # an empty section
        leaf(path, where)
        if path in layer:
            raise InputError(f"{where}: key '{path}' is given twice (first at {layer[path].where}); keep one")
        layer[path] = Setting(value, where)


_PYTHONS = {"None": None, "True": True, "False": False}
"""How W&B's agent writes what YAML calls null, true and false."""


def from_overrides(overrides: Sequence[str], origin: str = "command line") -> Layer:
    """Parse ``key=value`` words (Hydra style; W&B's ``${args_no_hyphens}``).

    Raises:
        InputError: no ``=``, an unknown key, or the same key twice.
    """
    layer: Layer = {}
    for word in overrides:
        path, equals, text = word.partition("=")
        if not equals:
            raise InputError(f"{origin}: '{word}' is not key=value; write for example model.heads=4")
        leaf(path, origin)
        if path in layer:
            raise InputError(f"{origin}: {path} is given twice; keep one")
        value = _PYTHONS[text] if text in _PYTHONS else parse_scalar(text, f"{origin}: {path}")
        layer[path] = Setting(value, origin)
    return layer


def build(layers: Sequence[Layer]) -> Experiment:
    """Compose layers, later over earlier, into an experiment.

    A later layer that switches a choice off also drops what earlier layers said about it; saying something about a
    choice that is not selected is an error.

    Raises:
        InputError: wrong type, out of bounds, impossible combination, or an inert setting.
    """
    composed, rank = _compose(layers)
    return construct(_drop_inactive(composed, rank))


def _compose(layers: Sequence[Layer]) -> tuple[Layer, dict[str, int]]:
    composed: Layer = {}
    rank: dict[str, int] = {}
    for index, layer in enumerate(layers):
        for path, setting in layer.items():
            composed[path] = setting
            rank[path] = index
    return composed, rank


def _drop_inactive(composed: Layer, rank: Mapping[str, int]) -> Layer:
    kept: Layer = {}
    for path, setting in composed.items():
        need = unmet(path, lambda other: value_in(composed, other))
        if need is None:
            kept[path] = setting
        elif rank[path] >= rank.get(need.path, -1):
            raise InputError(
                f"{setting.where}: {path} does nothing, it needs {need} and {need.path} is "
                f"{said(value_in(composed, need.path))}; remove it or change {need.path}"
            )
    return kept


def value_in(layer: Mapping[str, Setting], path: str) -> Any:
    """The value of a field in a complete layer: as set, or its default."""
    return layer[path].value if path in layer else leaves()[path].default


def said(value: Any) -> str:
    """A setting's value as it is written in YAML."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def construct(layer: Layer) -> Experiment:
    """Build the tree from one complete layer; every default not named is the paper's.

    Raises:
        InputError: with the file, line and key at fault.
    """
    tree: dict[str, dict[str, Any]] = {}
    top: dict[str, Any] = {}
    for path, setting in layer.items():
        value = _as_declared(leaves()[path], setting.value)
        section, dot, name = path.partition(".")
        if dot:
            tree.setdefault(section, {})[name] = value
        else:
            top[path] = value
    for section, values in tree.items():
        top[section] = _validated(sections()[section], values, f"{section}.", layer)
    return _validated(Experiment, top, "", layer)


def _validated(cls: Callable[..., _Built], values: dict[str, Any], prefix: str, layer: Layer) -> _Built:
    try:
        return cls(**values)
    except ValidationError as error:
        raise InputError(_first_fault(error, prefix, layer)) from error


def _as_declared(known: Leaf, value: Any) -> Any:
    if isinstance(value, list) and isinstance(known.default, tuple):
        return tuple(cast(list[Any], value))
    return cast(Any, value)


def _first_fault(error: ValidationError, prefix: str, layer: Layer) -> str:
    fault = error.errors(include_url=False)[0]
    path = f"{prefix}{fault['loc'][0]}" if fault["loc"] else ""
    if path in layer:
        setting = layer[path]
        return f"{setting.where}: {path}={said(setting.value)} is not possible: {_reason(fault)}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    named = re.findall(r"[a-z]+\.[a-z_0-9]+", message)
    places = sorted({layer[name].where for name in named if name in layer})
    return f"{', '.join(places)}: {message}" if places else message


def _reason(fault: Any) -> str:
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:]
