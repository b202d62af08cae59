"""W&B's own schema of sweep files, from the package of its search engine (`sweeps`, installed for its data alone)."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import jsonschema


def violations(config: dict[str, Any]) -> list[str]:
    """What W&B would complain about."""
    schema = json.loads(Path(str(distribution("sweeps").locate_file("sweeps/config/schema.json"))).read_text())
    formats = jsonschema.FormatChecker()
    formats.checks("float")(lambda value: isinstance(value, float))
    return [error.message for error in jsonschema.Draft7Validator(schema, format_checker=formats).iter_errors(config)]
