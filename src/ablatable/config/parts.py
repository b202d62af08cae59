"""The leaves of the design space by the part they belong to: one class of fields, in its own file."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from ablatable.config.schema import Experiment
from ablatable.config.tree import Leaf, leaves, sections


@dataclass(frozen=True)
class Part:
    """Leaves that are declared together.

    ``section`` is ``model`` and the like (``experiment`` for what stands at the root), ``name`` the part's file, or the
    section where that is one class, ``about`` the first paragraph of the class's docstring.
    """

    section: str
    name: str
    about: str
    leaves: tuple[Leaf, ...]


def parts(chosen: Iterable[Leaf] | None = None) -> list[Part]:
    """Group leaves (None: all) by part, in the order of the declarations."""
    grouped = groupby(leaves().values() if chosen is None else chosen, key=_declaring)
    return [_part(section, cls, tuple(members)) for (section, cls), members in grouped]


def dependents(path: str) -> list[Leaf]:
    """The leaves that mean something only for some values of the choice at ``path``."""
    return [known for known in leaves().values() if any(need.path == path for need in known.needs)]


def kind_of(leaf: Leaf) -> str:
    """``design choice`` (an axis), ``operational`` (no part of a run's identity) or ``setting``."""
    if leaf.axis is not None:
        return "design choice"
    return "setting" if leaf.semantic else "operational"


def _declaring(leaf: Leaf) -> tuple[str, type[Any]]:
    section, dot, name = leaf.path.partition(".")
    if not dot:
        return "experiment", Experiment
    mro = inspect.getmro(cast(type[Any], sections()[section]))
    return section, next(cls for cls in mro if name in inspect.get_annotations(cls))


def _part(section: str, cls: type[Any], members: tuple[Leaf, ...]) -> Part:
    own_class = section == "experiment" or cls is sections()[section]
    about = (inspect.getdoc(cls) or "").partition("\n\n")[0]
    return Part(section, section if own_class else cls.__module__.rpartition(".")[2], " ".join(about.split()), members)
