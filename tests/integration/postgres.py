"""A PostgreSQL server of a test's own: in a temporary folder, as a user without rights, reached through a socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


def missing() -> str | None:
    """What keeps this machine from running a server of ours; None: nothing."""
    if _program("initdb") is None:
        return "no PostgreSQL server is installed here (Debian: apt-get install postgresql)"
    if find_spec("psycopg") is None:
        return "psycopg is not installed (pip install 'ablatable[postgres]')"
    return None


def _program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@contextmanager
def server() -> Generator[str]:
    """Start a server and give its URL; it and its folder are gone afterwards."""
    user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: the name of a socket has 107 bytes at most
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        _run([_program("initdb"), "-D", data, "-U", "ablatable", "--auth=trust", "--no-sync"], user)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        _run([_program("pg_ctl"), "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], user)
        try:
            yield f"postgresql+psycopg://ablatable@/postgres?host={folder}"
        finally:
            _run([_program("pg_ctl"), "-D", data, "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> str | None:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(command: list[object], user: str | None) -> None:
    words = [str(word) for word in command]
    subprocess.run(words, user=user, check=True, stdout=subprocess.DEVNULL, timeout=120, cwd="/")
