"""A run as another tool kept it, before anything is mapped to ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ablatable.record.foreign import Tool

Told = bool | int | float | str | None


@dataclass(frozen=True)
class Line:
    """What was logged at one step. ``seconds`` since the run began, where it is told."""

    step: int
    seconds: float | None
    values: Mapping[str, float]


@dataclass(frozen=True)
class FoundRun:
    """One run of a source.

    ``id`` is unique in the source, ``name`` may not be. ``final`` holds each number as it stood at the end, ``config``
    is flat, with dots. ``fault`` says why the run may not be whole, None where nothing speaks against it.
    """

    id: str
    name: str
    tool: Tool
    version: str | None
    source: Path
    digest: str
    config: Mapping[str, Told]
    final: Mapping[str, float]
    lines: tuple[Line, ...]
    fault: str | None = None

    @property
    def said(self) -> str:
        """How a sentence calls it: its name, and its id where that differs."""
        return self.name if self.name == self.id else f"{self.name} ({self.id})"


def digest_of(paths: Iterable[Path]) -> str:
    """16 hex of a hash over the content of files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Told]:
    """Nested settings by dotted name; lists as text, media of a tool and its own notes left out."""
    found: dict[str, Told] = {}
    for name, value in tree.items():
        if name.startswith("_"):
            continue
        if isinstance(value, Mapping):
            inner = cast(Mapping[str, Any], value)
            found |= {} if "_type" in inner else flat(inner, f"{prefix}{name}.")
        else:
            found[prefix + name] = value if isinstance(value, bool | int | float | str | None) else str(value)
    return found


def numbers(told: Mapping[str, Any]) -> dict[str, float]:
    """Those of the values that are numbers."""
    return {
        name: float(value)
        for name, value in told.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def last_of(lines: Iterable[Line]) -> dict[str, float]:
    """Each number as it was logged last."""
    found: dict[str, float] = {}
    for line in lines:
        found |= line.values
    return found
