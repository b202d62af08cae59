"""Imported first inside the warm server, by name only: ties the server to its runner.

Importing this module anywhere else does nothing: only a process started by `server.start` finds the variable.
"""

from __future__ import annotations

import os
import signal

from ablatable.launch.orphans import die_with
from ablatable.launch.server import RUNNER_VARIABLE
from ablatable.record.stamp import note_code

_runner = os.environ.pop(RUNNER_VARIABLE, None)

SERVER: int | None = None if _runner is None else os.getpid()
"""Process number of the server, known to everything forked from it."""

if _runner is not None:
    # Ctrl-C, and a SIGTERM to the group, reach the server too; the runner alone decides what they mean.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    die_with(int(_runner))
    note_code()
