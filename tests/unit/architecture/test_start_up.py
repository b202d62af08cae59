"""`--help`, `axes`, `plan`, `status` and `table` answer at once and never load torch."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "help": ["--help"],
    "help of a command": ["run", "--help"],
    "axes": ["axes", "model.position"],
    "plan": ["plan", "table3", "--scale", "paper"],
    "plan a scale": ["plan", "demo", "--scale", "demo-toy"],
    "status": ["status", "demo", "--scale", "demo-toy"],
    "table": ["table", "demo", "--scale", "demo-toy"],
    "runs": ["runs", "model.position=rope", "bleu>20"],
}
GOAL = 0.5
"""Seconds, on an idle core: what is asked of every one of them."""
LIMITS = {"help": GOAL, "plan": 0.8, "status": 0.8, "table": 0.8}
"""What is held: the goal where it is reached. The others are still above it; these limits are to come down."""
REFERENCE = "import typer, yaml, pydantic.dataclasses"
REFERENCE_SECONDS = 0.29
"""What the libraries below every command take alone on the idle core where the goal was set (2.4 GHz EPYC)."""

PROBE = """
import json, sys
sys.argv = ["ablatable", *json.loads(sys.argv[1])]
from ablatable.cli.main import main
try:
    main()
finally:
    heavy = ("torch", "pytorch_lightning", "wandb", "optuna", "sentencepiece", "sacrebleu", "scipy")
    print(json.dumps([name for name in heavy if name in sys.modules]), file=sys.stderr)
"""


def start(arguments: list[str], repository: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run the command in a fresh interpreter; return its answer and the processor seconds it took."""
    return measured([sys.executable, "-c", PROBE, json.dumps(arguments)], repository)


def measured(command: list[str], repository: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run(
        command,
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("name", COMMANDS)
def test_command_loads_nothing_heavy(name: str, repository: Path) -> None:
    answer, _ = start(COMMANDS[name], repository)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()
    assert json.loads(answer.stderr.splitlines()[-1]) == []


@pytest.mark.parametrize("name", LIMITS)
def test_command_answers_at_once(name: str, repository: Path) -> None:
    """The goal is half a second. On two cores of an AMD EPYC --help takes 0.2 s, table 0.5 to 0.6 s, plan 0.6 to 0.7 s,
    most of it pydantic's and typer's import.

    Processor time, because wall time on a busy machine measures its other users; nothing here waits.

    A busy or slow machine stretches processor time too (shared caches, hyper-threads). By how much, the same
    libraries without our code tell, measured in turn with the command; the limit is stretched by as much.
    """
    ours: list[float] = []
    libraries: list[float] = []
    for _ in range(5):
        libraries.append(measured([sys.executable, "-c", REFERENCE], repository)[1])
        ours.append(start(COMMANDS[name], repository)[1])
    stretch = max(1.0, statistics.median(libraries) / REFERENCE_SECONDS)
    seconds = statistics.median(ours)
    assert seconds < LIMITS[name] * stretch, f"{name}: {seconds:.2f} s where {LIMITS[name] * stretch:.2f} s are allowed"
