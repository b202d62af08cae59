"""The command line in a process of its own, as a person or a script starts it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
