"""W&B's transaction log (``run-<id>.wandb``), read by W&B's own tool: its format is its own affair."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ablatable.adopt.found import FoundRun, Line, Told, digest_of, flat, numbers
from ablatable.config.locate import display
from ablatable.errors import InputError

_PATIENCE_SECONDS = 1800
"""For one file; a log of a few hundred megabytes takes minutes."""


def read(path: Path) -> FoundRun:
    """Read one run.

    Raises:
        InputError: wandb is not installed, or the file is none of its, is empty or damaged.
    """
    records = _records(path)
    about = next((record["run"] for record in records if record["type"] == "run"), None)
    if about is None:
        raise InputError(f"{display(path)} holds no run (empty, or cut off before its first entry); leave it out")
    summary: dict[str, Any] = {}
    config: dict[str, Told] = flat(about.get("config", {}).get("update", {}))
    version: str | None = about.get("telemetry", {}).get("cli_version")
    lines: list[Line] = []
    for record in records:
        content = record.get(record["type"], {})
        match record["type"]:
            case "summary":
                summary |= flat(content.get("update", {}))
            case "config":
                config |= flat(content.get("update", {}))
            case "history":
                lines.append(_line(content))
            case _:
                pass
    last: dict[str, float] = {}
    for line in lines:
        last |= line.values
    return FoundRun(
        id=about["run_id"],
        name=about.get("display_name") or about["run_id"],
        tool="wandb",
        version=version,
        source=path,
        digest=digest_of([path]),
        config=config,
        final=last | numbers(summary),
        lines=tuple(lines),
        fault=_fault(records),
    )


def _line(history: dict[str, Any]) -> Line:
    item: dict[str, Any] = history["item"]
    runtime = item.get("_runtime")
    seconds = float(runtime) if isinstance(runtime, int | float) else None
    return Line(int(history.get("step", {}).get("num", item.get("_step", 0))), seconds, numbers(flat(item)))


def _fault(records: Sequence[dict[str, Any]]) -> str | None:
    ended = next((record["exit"] for record in records if record["type"] == "exit"), None)
    if ended is None:
        return "its file ends before the run does (killed, still running, or cut off)"
    code = ended.get("exit_code", 0)
    return f"it ended with exit code {code}" if code else None


def _records(path: Path) -> list[dict[str, Any]]:
    if importlib.util.find_spec("wandb") is None:
        raise InputError(f"{display(path)} is read by W&B's own tool; pip install wandb")
    # -P: a folder called wandb, which is where these files lie, must not stand in for the package.
    command = [sys.executable, "-P", "-m", "wandb", "leet", "inspect", "--json", str(path)]
    shown = subprocess.run(
        command, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, stdin=subprocess.DEVNULL, check=False
    )
    found: list[dict[str, Any]] = [json.loads(line) for line in shown.stdout.splitlines() if line.startswith("{")]
    said = shown.stderr.strip().splitlines()[-1:] or ["no reason given"]
    if shown.returncode != 0:
        raise InputError(f"{display(path)} can't be read by W&B's own tool ({said[0]}); leave it out")
    gaps = [record["num"] for i, record in enumerate(found, start=1) if record["num"] != i]
    if gaps or "corrupt" in shown.stderr:
        raise InputError(
            f"{display(path)} is damaged: W&B's own tool lost entries after number "
            f"{(gaps or [len(found) + 1])[0] - 1}; "
            "restore the file from a copy, or leave it out"
        )
    return found
