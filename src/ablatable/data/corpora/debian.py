"""Fetch Debian packages with apt and read them, without installing anything and without being root."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ablatable.data.corpora.storage import ELSEWHERE, Say, locked
from ablatable.errors import InputError
from ablatable.record.files import disk_full

OTHERS = "use data.corpus=toy-en-de (made on the spot, works anywhere) or data.corpus=files (your own text) instead"
"""What to do where apt does not serve."""
_URI = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) (?P<hash>\S*)$")


@dataclass(frozen=True)
class Package:
    """One package file on disk."""

    name: str
    version: str
    path: Path


class AptFailed(Exception):
    """Apt could not find or fetch something; the message is its own last line."""


def require_tools() -> None:
    """Refuse a machine without apt.

    Raises:
        InputError: naming what is missing and the other corpora.
    """
    missing = [tool for tool in ("apt-get", "dpkg-deb") if shutil.which(tool) is None]
    if missing:
        raise InputError(
            f"this corpus comes from Debian packages, and this machine has no {' and no '.join(missing)}; {OTHERS}"
        )


def run_apt(arguments: Sequence[str], folder: Path, options: Sequence[str], lock: int) -> str:
    """Run apt-get in ``folder``; the child holds our lock too, so that it is never joined by a second one.

    Raises:
        AptFailed: it ended with an error.
        RunFailed: the disk is full.
    """
    if os.geteuid() == 0:  # the unprivileged download user of apt cannot write to a private cache
        options = [*options, "-o", "APT::Sandbox::User=root"]
    command = [
        "apt-get",
        "-q",
        "-o",
        "Acquire::Retries=2",
        "-o",
        "Acquire::http::Timeout=30",
        *options,
        *arguments,
    ]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        pass_fds=(lock,),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return done.stdout
    problem = done.stderr + done.stdout
    if "No space left on device" in problem or "enough free space" in problem:
        raise disk_full(folder, ELSEWHERE)
    errors = [line.removeprefix("E: ") for line in problem.splitlines() if line.startswith("E: ")]
    raise AptFailed(errors[0] if errors else f"apt-get ended with status {done.returncode}")


def _private_index(folder: Path, lock: int, say: Say) -> list[str]:
    """Fetch a package index of our own, from the system's own sources, and return the options that use it."""
    state, cache = folder / "apt" / "state", folder / "apt" / "cache"
    for path in (state / "lists" / "partial", cache / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    options = ["-o", f"Dir::State={state}", "-o", f"Dir::Cache={cache}"]
    say("apt has no usable package index: fetching one into the cache (apt-get update)")
    run_apt(["update"], folder, options, lock)
    return options


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(names: Sequence[str], folder: Path, options: Sequence[str], lock: int, say: Say) -> list[Path]:
    empty = folder / "empty"  # apt lists only what the folder it runs in does not hold yet
    empty.mkdir(exist_ok=True)
    listing = run_apt(["download", "--print-uris", *names], empty, options, lock)
    files = [match for line in listing.splitlines() if (match := _URI.match(line.strip()))]
    if len(files) != len(names):
        raise AptFailed(f"apt-get names {len(files)} files for the packages {', '.join(names)}")
    size = sum(int(match["size"]) for match in files) / 1e6
    say(f"fetching {', '.join(names)} with apt-get ({size:.1f} MB)")
    run_apt(["download", *names], folder, options, lock)
    for match in files:
        kind, _, digest = match["hash"].partition(":")
        path = folder / match["file"]
        if not path.is_file() or (kind.upper() == "SHA256" and _sha256(path) != digest):
            path.unlink(missing_ok=True)
            raise AptFailed(f"{match['file']} did not arrive whole")
    return [folder / match["file"] for match in files]


def _described(path: Path) -> Package:
    fields = subprocess.run(
        ["dpkg-deb", "--showformat", "${Package}\t${Version}", "--show", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    name, version = fields.strip().split("\t")
    return Package(name, version, path)


def fetch(names: Sequence[str], folder: Path, say: Say) -> list[Package]:
    """Fetch the packages ``names`` into ``folder`` and return them in that order.

    What is there already and matches apt's checksums is not fetched again; a download that was cut short
    goes on where it stopped. The system's package index is used where it serves, else a private one in
    ``folder``.

    Raises:
        InputError: no apt here, no network, or no such package.
        RunFailed: the disk is full.
    """
    require_tools()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", say) as lock:
        try:
            try:
                paths = _download(names, folder, (), lock, say)
            except AptFailed:
                paths = _download(names, folder, _private_index(folder, lock, say), lock, say)
        except AptFailed as error:
            raise InputError(f"apt could not fetch {', '.join(names)} ({error}); {OTHERS}") from error
        by_name = {package.name: package for package in map(_described, paths)}
    return [by_name[name] for name in names]


def read_files(package: Package, below: str, suffix: str) -> dict[str, bytes]:
    """Return path -> content of a package's files below the folder ``below`` that end in ``suffix``.

    The paths are relative to ``below``. Nothing is written to the disk, nothing is installed.

    Raises:
        InputError: the package cannot be read.
    """
    command = ["dpkg-deb", "--fsys-tarfile", str(package.path)]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise InputError(
            f"{package.path}: dpkg-deb cannot read it ({reason}); delete the file and run the command again"
        )
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            path = member.name.removeprefix("./")
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and path.startswith(f"{below}/") and path.endswith(suffix):
                found[path.removeprefix(f"{below}/")] = content.read()
    return found


def versions(packages: Sequence[Package]) -> dict[str, str]:
    """Return name -> version."""
    return {package.name: package.version for package in packages}


def named(packages: Sequence[Package]) -> str:
    """Say which packages these are."""
    return f"Debian package{'s' if len(packages) > 1 else ''} {', '.join(package.name for package in packages)}"
