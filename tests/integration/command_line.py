"""The command line in a process of its own, as a person or a script starts it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

LIGHT = """
import sys
from ablatable.cli.main import main
try:
    main()
finally:
    assert "torch" not in sys.modules, "the runner imported torch"
"""


def light_command(*words: str) -> list[str]:
    """What to execute; the process fails if it came to import torch itself."""
    return [sys.executable, "-c", LIGHT, *words]


def environment(cache: Path) -> dict[str, str]:
    """This source tree, runs in the folder it is started in."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "ABLATABLE_CACHE": str(cache),
        "ABLATABLE_RUNS": "runs",
    }


def processes(runs: Path) -> int:
    """Processes that ever ran one of these runs."""
    return sum(path.read_text().count("--- ") for path in runs.glob("*/log.txt"))


def table_lines(out: str) -> list[str]:
    """The lines of the table in what was printed."""
    return [line for line in out.splitlines() if line.startswith("|")]


def until(condition: Callable[[], bool], seconds: float = 120.0) -> bool:
    """Wait for something; False: it has not come in that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def alive(process: psutil.Process) -> bool:
    """Whether it runs, and is not merely waited for."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
