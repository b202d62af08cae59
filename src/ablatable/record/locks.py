"""Locks of files that the kernel drops however their holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ablatable.record.files import disk_errors


@contextmanager
def lock_file(path: Path, remedy: str | None = None) -> Generator[int]:
    """Open a lock's file, making it and its folder; what was taken through the handle is given back at the end.

    Args:
        path: the file.
        remedy: what to do where it can't be written, as `disk_errors` takes it.

    Raises:
        InputError: the file can't be written.
        RunFailed: the disk is full.
    """
    with disk_errors(path) if remedy is None else disk_errors(path, remedy):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield handle
    finally:
        os.close(handle)


def take(handle: int) -> bool:
    """Take the lock if nobody holds it; whether it is ours now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def waited_for(path: Path) -> Generator[None]:
    """Hold a file's lock, waiting as long as another process holds it."""
    with lock_file(path) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_held(path: Path) -> bool:
    """Whether some process holds the lock; a file that is not there is held by nobody."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
