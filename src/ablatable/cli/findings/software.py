"""What is installed and can be had: corpora, tracking, packages, programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ablatable.cli.findings.finding import Finding

CORE_PACKAGES = (
    "ablatable",
    "torch",
    "pytorch-lightning",
    "wandb",
    "optuna",
    "sentencepiece",
    "tokenizers",
    "sacrebleu",
    "pydantic",
    "numpy",
)


def corpora() -> Iterator[Finding]:
    """Which corpora are here, can be fetched, or cannot."""
    import shutil

    from ablatable.config.catalogue import CORPORA
    from ablatable.config.data import Data
    from ablatable.config.locate import cache_folder
    from ablatable.data.corpora import local_fingerprint

    apt = all(shutil.which(program) for program in ("apt-get", "dpkg-deb"))
    for name, entry in CORPORA.items():
        if name != "files" and local_fingerprint(Data(corpus=name), cache_folder()) is not None:
            yield Finding(name, "present", f"{name}: present")
        elif name == "files":
            yield Finding(name, "yours", f"{name}: {entry.summary}")
        elif entry.needs == "hub" and _version("datasets") is None:
            need = "needs the Hugging Face hub: pip install 'ablatable[hub]'"
            yield Finding(name, "unavailable", f"{name}: {need}", "missing")
        elif entry.needs == "apt" and not apt:
            need = "needs apt-get and dpkg-deb (Debian, Ubuntu), not found here"
            yield Finding(name, "unavailable", f"{name}: {need}", "missing")
        else:
            yield Finding(name, "fetchable", f"{name}: made on first use ({entry.summary})")


def tracking() -> Iterator[Finding]:
    """W&B: its version, what overrides the settings, whether somebody is logged in."""
    version = _version("wandb")
    if version is None:
        yield Finding("wandb", None, "wandb is not installed: set tracking.wandb=off", "missing")
        return
    yield Finding("wandb", version, f"wandb {version}")
    mode = os.environ.get("WANDB_MODE")
    if mode:
        yield Finding("mode", mode, f"WANDB_MODE={mode} is set; a run follows it where that is less", "note")
    if _logged_in():
        yield Finding("login", True, "logged in: tracking.wandb=online works; offline is the default")
    else:
        later = "runs are tracked offline; `wandb login`, then `wandb sync`, sends them later"
        yield Finding("login", False, f"not logged in: {later}", "note")


def _logged_in() -> bool:
    """Whether a W&B key is at hand, by the two places its client looks; the key itself is not looked at."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    import netrc

    path = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    try:
        hosts = list(netrc.netrc(path).hosts)
    except (OSError, netrc.NetrcParseError):
        return False
    own = os.environ.get("WANDB_BASE_URL", "")
    return any("wandb" in host or (own and host in own) for host in hosts)


def packages() -> Iterator[Finding]:
    """Versions of what runs depend on."""
    import platform

    yield Finding("python", platform.python_version(), f"python {platform.python_version()}")
    for name in CORE_PACKAGES:
        version = _version(name)
        if version is None:
            yield Finding(name, None, f"{name}: not installed", "missing")
        else:
            yield Finding(name, version, f"{name} {version}")


def _version(package: str) -> str | None:
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def optional() -> Iterator[Finding]:
    """Programs that are of use and not needed."""
    import shutil

    uses = {"git": "a record names the commit it came from", "pdflatex": "the LaTeX tables can be set"}
    for program, use in uses.items():
        if shutil.which(program):
            yield Finding(program, True, f"{program}: {use}")
        else:
            yield Finding(program, False, f"{program}: not found; with it, {use}", "missing")
