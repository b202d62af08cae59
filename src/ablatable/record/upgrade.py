"""Reads records of every schema version: one step per version, applied in a chain.

To change the schema: raise ``SCHEMA_VERSION``, add ``UPGRADES[old] = step`` here, and commit a record of the
old version to ``tests/old_records``, where a test opens every file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ablatable.record.schema import SCHEMA_VERSION

Step = Callable[[dict[str, Any]], dict[str, Any]]


def _knows_its_trainer(content: dict[str, Any]) -> dict[str, Any]:
    """Version 1 knew no shared training: every run had trained its own weights."""
    return {**content, "trained_by": None}


def _knows_its_trainers_code(content: dict[str, Any]) -> dict[str, Any]:
    """Version 2 named the run that trained, and not the code it ran."""
    return {**content, "trainer_code": None}


def _knows_its_search(content: dict[str, Any]) -> dict[str, Any]:
    """Version 3 knew no tuned rows: every setting was written by a person."""
    return {**content, "tuned": None}


UPGRADES: dict[int, Step] = {1: _knows_its_trainer, 2: _knows_its_trainers_code, 3: _knows_its_search}
"""``UPGRADES[v]`` turns the content of a version ``v`` record into that of version ``v + 1``."""


def upgraded(
    content: dict[str, Any], steps: Mapping[int, Step] = UPGRADES, target: int = SCHEMA_VERSION
) -> dict[str, Any]:
    """Bring a record's content to the target version.

    Raises ValueError when it states no version or one this program does not know.
    """
    version: Any = content.get("schema_version")
    if not isinstance(version, int):
        raise ValueError("it states no schema_version")
    if version > target:
        raise ValueError(
            f"it has schema version {version}, this program knows up to {target}: update ablatable to read it"
        )
    while version < target:
        if version not in steps:
            raise ValueError(f"no upgrade leads from schema version {version} to {version + 1}")
        content = {**steps[version](content), "schema_version": version + 1}
        version += 1
    return content


def upgraded_json(text: bytes) -> bytes | None:
    """The record's text at the current version, None when it is there already. Raises ValueError."""
    content: Any = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    if content.get("schema_version") == SCHEMA_VERSION:
        return None
    return json.dumps(upgraded(content)).encode()  # pyright: ignore[reportUnknownArgumentType] (untyped JSON)
