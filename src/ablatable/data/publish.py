"""Build a cache folder once, whole or not at all, whoever else builds it and wherever this process is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

from ablatable.record.files import disk_errors, sync_folder


def publish(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return ``folder``, letting ``build`` fill it first where it doesn't exist.

    ``build`` writes into a temporary folder that is renamed when everything is on the disk, so a reader sees
    all of it or none. A second process waits for the first and takes its result. What a killed process left
    behind is removed by the next one. The caller must put all that matters to the content into the folder's name.

    Raises:
        RunFailed: the disk is full.
    """
    if folder.is_dir():
        return folder
    with disk_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(folder.with_name(f".{folder.name}.lock")):
            if not folder.is_dir():
                _build(folder, build)
    return folder


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    partial = folder.with_name(f".{folder.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir()
    try:
        build(partial)
        for path in partial.iterdir():
            _sync_file(path)
        sync_folder(partial)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    sync_folder(folder.parent)


@contextlib.contextmanager
def _exclusive(path: Path) -> Generator[None, None, None]:
    """Hold a file lock that the kernel drops when the process dies. The file stays: removing it would race."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
