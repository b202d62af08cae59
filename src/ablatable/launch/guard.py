"""One runner at a time for a study at a scale. The kernel drops the lock however the runner dies."""

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ablatable.errors import InputError
from ablatable.record.files import disk_errors
from ablatable.record.locks import lock_file, take


@contextmanager
def only_runner(runs: Path, study: str, scale: str) -> Generator[None]:
    """Hold `runs/.locks/<study>.<scale>.lock`, which names the holder.

    Raises:
        InputError: Another runner holds it.
        RunFailed: The disk is full.
    """
    path = runs / ".locks" / f"{study}.{scale}.lock"
    with lock_file(path) as handle:
        if not take(handle):
            holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip() or "unknown"
            raise InputError(
                f"study '{study}' at scale '{scale}' is being run already ({holder}, lock {path}); "
                "wait for that runner or stop it"
            )
        with disk_errors(path):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
