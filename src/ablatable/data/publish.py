"""Build a cache folder once, whole or not at all, whoever else builds it and wherever this is killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ablatable.data.corpora.storage import ELSEWHERE, build_folder, locked, to_stderr
from ablatable.record.files import disk_errors


def publish(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return ``folder``, letting ``build`` fill it first where it doesn't exist.

    ``build`` writes into a temporary folder that is renamed once everything is on the disk, so a reader
    sees all of it or none; a second process waits for the first and takes its result. The folder's name
    must stand for everything its content depends on.

    Raises:
        InputError: the cache cannot be written.
        RunFailed: the disk is full.
    """
    if folder.is_dir():
        return folder
    with disk_errors(folder, ELSEWHERE), locked(folder.with_name(f".{folder.name}.lock"), to_stderr):
        if not folder.is_dir():
            build_folder(folder, build)
    return folder
