"""Writing files so that a reader, or a crash, never meets half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

from ablatable.errors import InputError, RunFailed

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ENOENT,  # /proc, where no folder can be made
}


@contextlib.contextmanager
def disk_errors(path: Path, elsewhere: str = "run in another folder") -> Generator[None, None, None]:
    """Say in one sentence that ``path`` could not be written; other errors pass through.

    Args:
        path: what is written.
        elsewhere: what a person can do to have it written somewhere else.

    Raises:
        RunFailed: the disk or the quota is full.
        InputError: the place can't be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(path, elsewhere) from error
        if error.errno in _REFUSED:
            reason = os.strerror(error.errno or 0).lower()
            raise InputError(
                f"cannot write {error.filename or path} ({reason}); make it writable, or {elsewhere}"
            ) from error
        raise


def disk_full(path: Path, elsewhere: str) -> RunFailed:
    """The error that says the disk ``path`` is on is full."""
    return RunFailed(
        f"the disk is full: {path} could not be written; free some space, or {elsewhere}, and run the command again"
    )


def write_atomic(path: Path, content: str | bytes) -> None:
    """Replace a file at once: temporary file beside it, fsync, rename, fsync of the folder.

    Raises RunFailed when the disk is full; on any failure the old file stays and no temporary one does.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def make_writable(folder: Path, elsewhere: str) -> None:
    """Make a folder and try to write into it: before long work, not after it.

    Args:
        folder: where something will be written.
        elsewhere: what a person can do to have it written somewhere else.

    Raises:
        RunFailed: the disk is full.
        InputError: it can't be written.
    """
    with disk_errors(folder, elsewhere):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"?")


def sync_folder(folder: Path) -> None:
    """Make a rename inside the folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
