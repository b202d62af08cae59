"""The tree as plain data and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import yaml

from ablatable.config.layers import Layer, Setting, build
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaf, leaves, unmet, value_at


def is_active(experiment: Experiment, path: str) -> bool:
    """Whether the field means anything under the other choices made."""
    return unmet(path, lambda other: value_at(experiment, other)) is None


def to_dict(experiment: Experiment) -> dict[str, Any]:
    """Every active setting, nested by section, in the order of the declarations."""
    tree: dict[str, Any] = {}
    for path in leaves():
        if not is_active(experiment, path):
            continue
        value = value_at(experiment, path)
        *sections, name = path.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        node[name] = list(cast(tuple[Any, ...], value)) if isinstance(value, tuple) else value
    return tree


def from_dict(tree: Mapping[str, Any], where: str = "config") -> Experiment:
    """Inverse of :func:`to_dict`.

    Raises:
        InputError: unknown keys, impossible values or inert settings.
    """
    layer: Layer = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            for inner, inner_value in cast(Mapping[str, Any], value).items():
                leaf(f"{name}.{inner}", where)
                layer[f"{name}.{inner}"] = Setting(inner_value, where)
        else:
            leaf(name, where)
            layer[name] = Setting(value, where)
    return build([layer])


def to_yaml(experiment: Experiment) -> str:
    """``config.yaml`` of a run."""
    return yaml.safe_dump(to_dict(experiment), sort_keys=False, allow_unicode=True)
