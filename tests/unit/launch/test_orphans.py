"""The runner is killed in earnest, and nothing it started may be alive a moment later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # the runner under test imports the targets by name
from launch_targets import RUNNER, make_queued, pids  # noqa: E402 (after the path)


def start(runs: Path, slots: int, *rows: str) -> subprocess.Popen[str]:
    script = runs.parent / "runner.py"
    script.write_text(RUNNER.format(tests=str(HERE)))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, str(script), str(runs), str(slots), *rows],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def family(runner: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(runner.pid).children(recursive=True)


def running(runs: Path, *rows: str) -> bool:
    return all(pids(make_queued(runs, row)) for row in rows)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.mark.parametrize("rows", [("sleep-300", "sleep-301"), ("spin", "sleep-300")])
def test_nothing_survives_the_runner_killed_by_kill_9(runs: Path, rows: tuple[str, ...]) -> None:
    runner = start(runs, 2, *rows)
    assert until(lambda: running(runs, *rows)), runner.communicate(timeout=5)
    children = family(runner)
    assert {pid for row in rows for pid in pids(make_queued(runs, row))} <= {child.pid for child in children}
    runner.send_signal(signal.SIGKILL)
    runner.wait(5)
    assert until(lambda: not any(alive(child) for child in children), 3), children


def test_runs_die_with_the_server(runs: Path) -> None:
    rows = ("spin", "sleep-300")
    runner = start(runs, 2, *rows)
    assert until(lambda: running(runs, *rows))
    run = psutil.Process(pids(make_queued(runs, "spin"))[0])
    server = run.parent()
    assert server is not None
    assert server.pid != runner.pid
    server.kill()
    out, _ = runner.communicate(timeout=10)
    assert "('spin', 'crashed')" in out
    assert "('sleep-300', 'crashed')" in out
    assert not alive(run)


def test_after_kill_9_the_next_runner_finishes_and_repeats_nothing(runs: Path) -> None:
    rows = ("plain", "sleep-2", "sleep-0.1")
    runner = start(runs, 1, *rows)
    assert until(lambda: running(runs, "sleep-2"))
    runner.send_signal(signal.SIGKILL)
    runner.wait(5)
    again = start(runs, 1, *rows)
    out, err = again.communicate(timeout=30)
    assert again.returncode == 0, err
    assert out.count("completed") == 3
    assert [len(pids(make_queued(runs, row))) for row in rows] == [1, 2, 1]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_runs_and_sets_the_exit_code(runs: Path, number: signal.Signals, code: int) -> None:
    runner = start(runs, 1, "plain", "sleep-300", "sleep-301")
    assert until(lambda: running(runs, "sleep-300"))
    children = family(runner)
    os.killpg(runner.pid, number)  # as a terminal does
    out, err = runner.communicate(timeout=15)
    assert (runner.returncode, err) == (code, "")
    assert "('plain', 'completed'), ('sleep-300', 'interrupted')" in out
    assert until(lambda: not any(alive(child) for child in children), 3)


def test_a_second_ctrl_c_does_not_wait_for_a_stubborn_run(runs: Path) -> None:
    runner = start(runs, 1, "stubborn")
    assert until(lambda: running(runs, "stubborn"))
    time.sleep(0.3)
    runner.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert runner.poll() is None
    runner.send_signal(signal.SIGINT)
    runner.wait(5)
    assert runner.returncode == 130


def test_the_children_of_a_run_die_when_the_run_notices(runs: Path) -> None:
    """Where the kernel's chain is missing, the pipe ends the whole process group."""
    runner = start(runs, 1, "family")
    assert until(lambda: running(runs, "family") and len(family(runner)) >= 4)
    children = family(runner)
    runner.send_signal(signal.SIGSTOP)
    runner.send_signal(signal.SIGKILL)
    runner.wait(5)
    mine = [child for child in children if "sleep" not in child.name()]
    assert until(lambda: not any(alive(child) for child in mine), 3)
    for child in children:
        if alive(child):
            child.kill()
