"""The settings of a run as its record has them: resolved values, by dotted path.

A record's configuration leaves out what meant nothing under the other choices, and what the program did not know yet
when the run was made. The first is `INACTIVE`; the second had its default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final, cast

from ablatable.config.dump import from_dict
from ablatable.config.identity import STAND_INS, resolved
from ablatable.config.schema import OPERATIONAL_SECTIONS, Experiment
from ablatable.config.tree import leaves, unmet
from ablatable.errors import InputError

Config = Mapping[str, Any]
"""A resolved experiment as plain data (``config.dump.to_dict``), nested by section."""


class Marker(Enum):
    """What stands where a setting has no value."""

    INACTIVE = "inactive"
    UNTOLD = "untold"


INACTIVE: Final = Marker.INACTIVE
"""The setting means nothing under the other choices of the run."""

UNTOLD: Final = Marker.UNTOLD
"""The run was imported, and its source does not say."""


def setting_at(config: Config, path: str) -> Any:
    """The resolved value of a setting: what null stands for is said in full, a default that was not said too.

    Lists stay lists. Raises KeyError for a path that neither the design space nor the configuration has.
    """
    found = _stored(config, path)
    if found is INACTIVE:
        found = leaves()[path].default
        if unmet(path, lambda other: _or_default(config, other)) is not None:
            return INACTIVE
        found = list(cast(tuple[Any, ...], found)) if isinstance(found, tuple) else found
    return _meant(config, path) if found is None and path in STAND_INS else found


def told(config: Config, path: str) -> Any:
    """What an imported run's configuration says itself of a setting, `UNTOLD` where it says nothing."""
    found = _stored(config, path)
    return UNTOLD if found is INACTIVE else found


def stored_paths(config: Config) -> list[str]:
    """The paths that a configuration says, in its order; those of another version of the program too."""
    found: list[str] = []
    for name, value in config.items():
        if isinstance(value, Mapping):
            found += [f"{name}.{inner}" for inner in cast(Config, value)]
        else:
            found.append(name)
    return found


def _stored(config: Config, path: str) -> Any:
    section, dot, name = path.partition(".")
    if not dot:
        return config.get(path, INACTIVE)
    inner: Any = config.get(section)
    return cast(Config, inner).get(name, INACTIVE) if isinstance(inner, Mapping) else INACTIVE


def _or_default(config: Config, path: str) -> Any:
    found = _stored(config, path)
    return leaves()[path].default if found is INACTIVE else found


def _meant(config: Config, path: str) -> Any:
    semantic = {
        name: _known(name, part) for name, part in config.items() if name not in (*OPERATIONAL_SECTIONS, "seed")
    }
    experiment = _experiment(json.dumps(semantic, sort_keys=True))
    return None if experiment is None else resolved(experiment, path)


def _known(section: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """What this version knows of a section."""
    return {name: value for name, value in part.items() if f"{section}.{name}" in leaves()}


@lru_cache(maxsize=1024)
def _experiment(config: str) -> Experiment | None:
    """The experiment, once for all seeds; None where today's rules refuse what an older version ran."""
    try:
        return from_dict(json.loads(config), "record")
    except InputError:
        return None
