"""No process outlives the runner, however the runner dies.

Two independent chains lead from the runner to a run. The kernel's: the server asks to be killed with the
runner and a run with the server (PR_SET_PDEATHSIG, Linux), which needs no help from a busy interpreter. And a
pipe whose writing end only the runner holds: a thread of the run waits for its end, which also works where no
such call exists, and takes along the processes that the run itself started.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from multiprocessing import connection, parent_process

_PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Have the kernel kill this process when `parent`, its parent process, dies, or if it has died."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def watch_runner() -> None:
    """Kill this process group as soon as the runner's end of the pipe closes; the caller leads a group."""
    runner = parent_process()
    if runner is None:
        raise RuntimeError("a run is started by the runner, through multiprocessing")

    def wait() -> None:
        connection.wait([runner.sentinel])
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, name="watch-runner", daemon=True).start()
