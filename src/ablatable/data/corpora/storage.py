"""The cache folder: one builder at a time, whole folders or none."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

Say = Callable[[str], None]
"""Takes one line of progress."""

ELSEWHERE = "set ABLATABLE_CACHE to a folder on another disk"
"""What to do where the cache can't be written."""


def to_stderr(message: str) -> None:
    """Print one line of progress where it does not mix with results."""
    print(message, file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(path: Path, say: Say) -> Generator[int]:
    """Hold an exclusive lock on the file ``path``; yields its descriptor.

    The system releases the lock when the last process holding the descriptor ends, however it ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that holds {path}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def build_folder(final: Path, build: Callable[[Path], None]) -> None:
    """Fill a temporary folder with ``build`` and rename it to ``final``, once its files are on the disk.

    Call it under the lock of ``final``: leftovers of a builder that was killed are removed first.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    for stale in final.parent.glob(f".{final.name}.*.tmp"):
        shutil.rmtree(stale)
    draft = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=".tmp", dir=final.parent))
    try:
        build(draft)
        draft.chmod(0o755)
        for file in draft.iterdir():
            _sync(file)
        _sync(draft)
        draft.rename(final)
        _sync(final.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
