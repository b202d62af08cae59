"""A comparison in the forms there are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from ablatable.report.compare.markdown import render
from ablatable.report.compare.model import Comparison
from ablatable.report.settings import Marker


def to_json(made: Comparison) -> str:
    """Every part as data; a setting that means nothing is ``"inactive"``."""
    return json.dumps(asdict(made), indent=1, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, Marker):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON")


FORMATS: dict[str, Callable[[Comparison], str]] = {"md": render, "json": to_json}
