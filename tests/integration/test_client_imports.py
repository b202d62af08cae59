"""What W&B's client imports is imported once, by the warm server, and not by every run again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import importlib, sys
from pathlib import Path

import torch
from tiny_runs import tiny_job

from ablatable.launch.executed import execute
from ablatable.launch.server import preload_list

for name in preload_list(wandb=True):
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # as the server does: pandas may not be installed
torch.set_num_threads(1)
job = tiny_job(Path(sys.argv[1]), Path(sys.argv[2]), "tracking.wandb=offline")
before = set(sys.modules)
record = execute(job)
assert record.status == "completed", record.cause
print("after:", *sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""


def test_a_tracked_run_imports_no_package_of_the_clients(tmp_path: Path) -> None:
    """Each of these took every run a part of a second: pandas alone 0.4 s, to see that a table is not of its kind."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "runs"), str(tmp_path / "cache")],
        env={**outside, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (line,) = (line for line in ended.stdout.splitlines() if line.startswith("after:"))
    assert list((tmp_path / "runs").glob("*/wandb/offline-run-*/*.wandb"))
    assert not set(line.split()) & {"pandas", "pyarrow", "requests", "urllib3", "opentelemetry"}, line
