"""The wish of a sweep that a run end early: a file in the run's folder, meant for one process and no later one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ablatable.record.files import write_atomic

PRUNE_FILE = "prune.json"


def ask_to_prune(folder: Path, group: int, cause: str) -> None:
    """Ask the run in ``folder`` to end with the status pruned.

    Args:
        folder: the run's.
        group: process group of the attempt that is meant; another attempt doesn't listen.
        cause: goes into the record.
    """
    write_atomic(folder / PRUNE_FILE, json.dumps({"group": group, "cause": cause}) + "\n")


def asked_to_prune(folder: Path, group: int) -> str | None:
    """The cause, where the attempt of this process group is asked to end."""
    try:
        wish: Any = json.loads((folder / PRUNE_FILE).read_bytes())
    except FileNotFoundError:
        return None
    return str(wish["cause"]) if wish["group"] == group else None


def forget_prune(folder: Path) -> None:
    """Drop a wish that was fulfilled, or came too late."""
    (folder / PRUNE_FILE).unlink(missing_ok=True)
