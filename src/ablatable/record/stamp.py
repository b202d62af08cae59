"""Provenance: which code, packages and machine made a run's numbers.

Never imports torch, only looks whether it is there.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import ablatable
from ablatable.record.schema import Hardware, Stamp

PACKAGES = (
    "ablatable",
    "lightning",
    "numpy",
    "optuna",
    "pydantic",
    "pytorch-lightning",
    "sacrebleu",
    "sentencepiece",
    "tokenizers",
    "torch",
    "wandb",
)
TRAINING_CODE = ("config", "nn", "data", "training", "decoding", "scoring")
"""The packages whose source can change a run's numbers."""

_PACKAGE_FOLDER = Path(ablatable.__file__).parent


def utc_now() -> str:
    """The time now, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def collect(
    *,
    threads: int,
    devices: int,
    corpus: str,
    corpus_fingerprint: str,
    tokenizer_fingerprint: str,
    bleu_signature: str | None,
    deterministic: bool,
    started: str,
    finished: str | None = None,
) -> Stamp:
    """Make the stamp of a run that ends now (``finished=None``) in this process."""
    commit, dirty = git_state(_PACKAGE_FOLDER)
    return Stamp(
        git_commit=commit,
        git_dirty_digest=dirty,
        code_digest=code_digest(),
        packages=package_versions(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        hardware=hardware(),
        threads=threads,
        devices=devices,
        corpus=corpus,
        corpus_fingerprint=corpus_fingerprint,
        tokenizer_fingerprint=tokenizer_fingerprint,
        bleu_signature=bleu_signature,
        deterministic=deterministic,
        command=command_line(sys.argv, Path.cwd()),
        started=started,
        finished=utc_now() if finished is None else finished,
    )


def note_code() -> None:
    """Note the code as it is on disk now; stamps made in this process and its forks name it.

    To be called before the code is imported: a file edited during a run of hours did not make its numbers.
    """
    code_digest()
    git_state(_PACKAGE_FOLDER)


@functools.cache
def code_digest(package: Path = _PACKAGE_FOLDER) -> str:
    """16 hex of a hash over names and content of the training code; a note, not part of the identity."""
    digest = hashlib.sha256()
    for name in TRAINING_CODE:
        for path in sorted((package / name).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


@functools.cache
def git_state(package: Path) -> tuple[str | None, str | None]:
    """The commit, and a digest of the changes since; (None, None) where the package is not tracked.

    The digest is None when nothing differs. Only the package's own folder counts: a run's numbers cannot
    depend on the rest of the checkout, and its experiment is in the record.
    """
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None, None
    commit = _git(package, "rev-parse", "HEAD")
    changes = _git(package, "diff", "HEAD", "--binary", "--no-color", "--no-ext-diff", "--", ".")
    untracked = _git(package, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    if commit is None or changes is None or untracked is None:
        return None, None
    digest = hashlib.sha256(changes)
    for name in sorted(filter(None, untracked.split(b"\0"))):
        digest.update(name + b"\0" + (package / os.fsdecode(name)).read_bytes())
    dirty = digest.hexdigest()[:16] if changes or untracked else None
    return commit.decode().strip(), dirty


def _git(folder: Path, *arguments: str) -> bytes | None:
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=folder,
            capture_output=True,
            check=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


@functools.cache
def package_versions() -> dict[str, str]:
    """Installed versions of the packages a run's numbers may depend on."""
    versions: dict[str, str] = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def hardware() -> Hardware:
    """This machine. GPU names are known only once torch is imported and has used them."""
    return Hardware(
        cpu=_cpu_model(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        gpus=_gpu_names(),
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(filter(None, models), platform.processor() or platform.machine())


def _gpu_names() -> list[str]:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return []
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]


def command_line(arguments: Sequence[str], folder: Path) -> str:
    """The command as one would type it again, with no absolute path of this machine and no password of a URL in it."""
    if not arguments:
        return ""
    first = Path(arguments[0]).name
    shown = (_PASSWORD.sub(r"\1:***@", argument) for argument in arguments[1:])
    return shlex.join([first, *(_relative(argument, folder) for argument in shown)])


_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@\s]*@")
"""User and password of a URL, such as a sweep's storage."""


def _relative(argument: str, folder: Path) -> str:
    key, equals, value = argument.rpartition("=")
    path = Path(value)
    if not path.is_absolute():
        return argument
    return f"{key}{equals}{path.relative_to(folder) if path.is_relative_to(folder) else path.name}"
