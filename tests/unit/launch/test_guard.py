from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ablatable.errors import InputError
from ablatable.launch.guard import only_runner

HOLDER = """
import sys, time
from pathlib import Path
from ablatable.launch.guard import only_runner
with only_runner(Path(sys.argv[1]), "demo", "cpu"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_runner_is_refused_in_one_sentence_and_let_in_after_kill_9(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError) as refused, only_runner(tmp_path, "demo", "cpu"):
            pass
        message = str(refused.value)
        assert f"process {holder.pid} on " in message
        assert "study 'demo' at scale 'cpu' is being run already" in message
        assert "\n" not in message
        with only_runner(tmp_path, "demo", "paper"), only_runner(tmp_path, "table3", "cpu"):
            pass
        holder.kill()
    with only_runner(tmp_path, "demo", "cpu"):
        assert f"process {os.getpid()} on" in (tmp_path / ".locks" / "demo.cpu.lock").read_text()


def test_the_lock_is_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with only_runner(tmp_path, "demo", "cpu"):
            pass
