"""Offline W&B runs read back with W&B's own tool, record by record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def file_of(folder: Path) -> Path:
    """The one offline run of a folder."""
    (file,) = (folder / "wandb").glob("offline-run-*/run-*.wandb")
    return file


def records(file: Path) -> list[dict[str, Any]]:
    """Every record of a ``.wandb`` file, as ``wandb leet inspect`` reads it."""
    tool = Path(sys.executable).with_name("wandb")
    shown = subprocess.run(
        [tool, "leet", "inspect", "--json", str(file)], capture_output=True, text=True, check=True, timeout=120
    )
    return [json.loads(line) for line in shown.stdout.splitlines() if line.startswith("{")]


def of_type(found: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    """The content of the records of one type."""
    return [record[type] for record in found if record["type"] == type]


def history(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the history, without what W&B adds (names with an underscore in front)."""
    rows = [entry["item"] for entry in of_type(found, "history")]
    return [{name: value for name, value in row.items() if not name.startswith("_")} for row in rows]


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The summary as it stands at the end."""
    whole: dict[str, Any] = {}
    for entry in of_type(found, "summary"):
        whole |= entry.get("update", {})
    return whole
