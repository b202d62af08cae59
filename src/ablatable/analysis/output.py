"""What an analysis leaves behind: its numbers as JSON beside its pictures."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, cast

from ablatable.record.files import write_atomic

DATA = "data.json"
_DIGITS = 6


def plain(value: Any) -> Any:
    """A result as JSON has it: dataclasses by field, numbers to six significant digits, null where not finite."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in cast(Sequence[Any], value)]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value


def encode(value: Any) -> str:
    """The text of ``data.json``: a list of numbers is one line, everything else is indented."""
    return _encode(plain(value), "") + "\n"


def write(folder: Path, value: Any) -> Path:
    """Write ``data.json`` into ``folder``, making it.

    Raises:
        InputError: the folder can't be written.
        RunFailed: the disk is full.
    """
    write_atomic(folder / DATA, encode(value))
    return folder / DATA


def _encode(value: Any, indent: str) -> str:
    inner = indent + " "
    if isinstance(value, dict) and value:
        members = cast(dict[str, Any], value).items()
        lines = [f"{inner}{json.dumps(name)}: {_encode(one, inner)}" for name, one in members]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(one, list | dict) for one in cast(list[Any], value)):
        lines = [inner + _encode(one, inner) for one in cast(list[Any], value)]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
