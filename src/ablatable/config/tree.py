"""The leaves of the design space, by dotted path, read off the dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic.fields import FieldInfo

from ablatable.config.axis import Axis, Needs, Operational
from ablatable.config.schema import OPERATIONAL_SECTIONS, Experiment
from ablatable.errors import InputError, nearest

_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Leaf:
    """One settable field: ``path`` such as ``model.heads``."""

    path: str
    annotation: Any
    default: Any
    description: str
    axis: Axis | None
    needs: tuple[Needs, ...]
    semantic: bool
    limits: str
    """The numbers allowed, such as ``from 0 to below 1``; empty where there are no bounds."""


def _fields(cls: Any) -> dict[str, FieldInfo]:
    return cls.__pydantic_fields__


def _each(metadata: list[Any], kind: type[_Kind]) -> tuple[_Kind, ...]:
    return tuple(item for item in metadata if isinstance(item, kind))


def _first(metadata: list[Any], kind: type[_Kind]) -> _Kind | None:
    return next(iter(_each(metadata, kind)), None)


def _leaf(path: str, info: FieldInfo, operational: bool) -> Leaf:
    return Leaf(
        path=path,
        annotation=info.annotation,
        default=info.default,
        description=info.description or "",
        axis=_first(info.metadata, Axis),
        needs=_each(info.metadata, Needs),
        semantic=not operational and _first(info.metadata, Operational) is None,
        limits=_limits(info.metadata),
    )


def _limits(metadata: list[Any]) -> str:
    said = (
        f"{word} {bound:g}" if isinstance(bound, float) else f"{word} {bound}"
        for name, word in (("ge", "from"), ("gt", "above"), ("le", "to"), ("lt", "to below"))
        for bound in (getattr(item, name, None) for item in metadata)
        if bound is not None
    )
    return " ".join(said)


def _walk() -> Iterator[Leaf]:
    for name, info in _fields(Experiment).items():
        if not hasattr(info.annotation, "__pydantic_fields__"):
            yield _leaf(name, info, operational=False)
            continue
        for inner, inner_info in _fields(info.annotation).items():
            yield _leaf(f"{name}.{inner}", inner_info, operational=name in OPERATIONAL_SECTIONS)


@cache
def leaves() -> dict[str, Leaf]:
    """Every leaf of the tree by its dotted path, in the order of the declarations."""
    return {leaf.path: leaf for leaf in _walk()}


@cache
def sections() -> dict[str, Callable[..., Any]]:
    """The section classes of the tree by name, such as ``model``."""
    annotations: dict[str, Any] = {name: info.annotation for name, info in _fields(Experiment).items()}
    return {name: cls for name, cls in annotations.items() if hasattr(cls, "__pydantic_fields__")}


def leaf(path: str, where: str) -> Leaf:
    """Return the leaf at ``path``.

    Raises:
        InputError: unknown path; ``where`` says who asked.
    """
    found = leaves().get(path)
    if found is None:
        if any(known.startswith(f"{path}.") for known in leaves()):
            raise InputError(
                f"{where}: '{path}' is a section, not a setting; set one of its keys, such as {path}.{_child(path)}"
            )
        raise InputError(f"{where}: unknown key '{path}'{nearest(path, leaves())}")
    return found


def _child(section: str) -> str:
    return next(known.split(".", 1)[1] for known in leaves() if known.startswith(f"{section}."))


def unmet(path: str, value_of: Callable[[str], Any]) -> Needs | None:
    """The need that keeps the field at ``path`` from meaning anything, or None where it is active.

    A field is active when all its needs are met and the fields they name are active themselves. ``value_of`` gives the
    value of another field.
    """
    for need in leaves()[path].needs:
        if not need.met(value_of(need.path)):
            return need
        above = unmet(need.path, value_of)
        if above is not None:
            return above
    return None


def activating(path: str) -> dict[str, Any]:
    """Settings under which the field at ``path`` means something, outermost choice first."""
    found: dict[str, Any] = {}
    for need in leaves()[path].needs:
        found |= activating(need.path)
        default = leaves()[need.path].default
        if not need.met(default):
            axis = leaves()[need.path].axis
            tried = (*need.one_of, *(axis.values if axis else ()), int(need.above or 0) + 1)
            found[need.path] = next(value for value in tried if need.met(value))
    return found


def values_of(path: str) -> tuple[Any, ...]:
    """The values of a choice: all where it is one of a few, those worth trying elsewhere; none where it is no axis."""
    known = leaves()[path]
    if known.axis is None:
        return ()
    if get_origin(known.annotation) is Literal:
        return get_args(known.annotation)
    return (True, False) if known.annotation is bool else known.axis.values


def selecting(path: str, value: Any) -> dict[str, Any]:
    """The settings that give the base this value of a choice: what makes it active, the value, its companions."""
    return {**activating(path), path: value, **companions_of(path, value)}


def companions_of(path: str, value: Any) -> dict[str, Any]:
    """What else must be set for this value of a choice to be possible beside the base."""
    axis = leaves()[path].axis
    return dict(axis.companions[value]) if axis and value in axis.companions else {}


def value_at(experiment: Experiment, path: str) -> Any:
    """Read one leaf of an experiment."""
    node: Any = experiment
    for part in path.split("."):
        node = getattr(node, part)
    return node
