"""`ablatable doctor`: what this machine can do, and what would make it do more.

Every question is asked so that no answer can stop the others: what cannot be found out is a finding itself.
Imports stand in the functions: `ablatable --help` loads this file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

State = Literal["ok", "note", "missing"]
MARKS: dict[State, str] = {"ok": "+", "note": "!", "missing": "-"}
GIB = 2**30
BF16_FLAGS = ("amx_bf16", "avx512_bf16", "bf16", "svebf16")
"""Processor flags (x86, then ARM) without which bf16 arithmetic is emulated."""
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
LOW_DISK = 5 * GIB
"""A study at the cpu scale with its data and checkpoints stays below this."""


@dataclass(frozen=True)
class Finding:
    """One answer.

    Args:
        key: stable name for scripts.
        value: the answer as data (JSON).
        text: the answer as a person reads it.
        state: ``ok``; ``note``: works, but read the text; ``missing``: not to be had as things are.
    """

    key: str
    value: object
    text: str
    state: State = "ok"


def doctor(
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print.")] = "text",
) -> None:
    """What this machine can do: devices, corpora, W&B, SLURM, versions, folders."""
    import json

    report = examine()
    if format == "json":
        typer.echo(json.dumps({title: _as_json(findings) for title, findings in report.items()}, indent=2))
        return
    for title, findings in report.items():
        typer.echo(f"\n{title}")
        for finding in findings:
            typer.echo(f"  {MARKS[finding.state]} {finding.text}")
    typer.echo("\n+ fine   ! read this   - not available here")


def examine() -> dict[str, list[Finding]]:
    """Ask everything. Takes as long as importing torch; never raises."""
    questions: dict[str, Callable[[], Iterator[Finding]]] = {
        "machine": _machine,
        "accelerators": _accelerators,
        "corpora": _corpora,
        "tracking": _tracking,
        "cluster": _cluster,
        "packages": _packages,
        "folders": _folders,
        "optional": _optional,
    }
    return {title: list(_answers(question)) for title, question in questions.items()}


def _as_json(findings: list[Finding]) -> dict[str, object]:
    return {finding.key: {k: v for k, v in asdict(finding).items() if k != "key"} for finding in findings}


def _answers(question: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from question()
    except Exception as problem:  # noqa: BLE001 - a broken installation is what a doctor is called for: it is reported
        cause = f"{type(problem).__name__}: {problem}".splitlines()[0]
        yield Finding("problem", cause, f"could not be examined: {cause}", "note")


def _machine() -> Iterator[Finding]:
    from ablatable.record.stamp import hardware

    found = hardware()
    yield Finding("cpu", found.cpu, f"processor: {found.cpu}")
    yield Finding("cores", found.cores, f"cores this process may use: {found.cores}")
    free = _available_memory()
    memory = f"memory: {found.memory_bytes / GIB:.1f} GiB" + (f", {free / GIB:.1f} free" if free else "")
    yield Finding("memory_bytes", found.memory_bytes, memory)
    yield _bf16()


def _bf16() -> Finding:
    flags = cpu_flags(_read("/proc/cpuinfo"))
    have = [name for name in BF16_FLAGS if name in flags]
    subject = "bf16 on the processor"
    if have:
        return Finding("cpu_bf16", True, f"{subject}: yes ({', '.join(have)}); train.precision=bf16 pays")
    if not flags:
        return Finding("cpu_bf16", None, f"{subject}: unknown (no /proc/cpuinfo); fp32 is safe", "note")
    return Finding(
        "cpu_bf16",
        False,
        f"{subject}: no (neither avx512_bf16 nor amx_bf16), so it is emulated, many times slower than fp32;"
        " keep train.precision=fp32 here",
        "note",
    )


def cpu_flags(cpuinfo: str) -> set[str]:
    """The feature flags in the text of /proc/cpuinfo (``flags`` on x86, ``Features`` on ARM)."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return set(value.split())
    return set()


def _available_memory() -> int | None:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _accelerators() -> Iterator[Finding]:
    import torch

    count = torch.cuda.device_count()
    if not count:
        built = torch.version.cuda or torch.version.hip
        why = "torch is built for it but sees no device" if built else "this torch is built for CPUs only"
        yield Finding("cuda", 0, f"no CUDA device ({why}); runs use the processor", "missing")
        return
    for index in range(count):
        name = torch.cuda.get_device_name(index)
        memory = cast("int", torch.cuda.get_device_properties(index).total_memory)
        bf16 = torch.cuda.get_device_capability(index) >= (8, 0) or torch.version.hip is not None
        yield Finding(
            f"cuda:{index}",
            {"name": name, "memory_bytes": memory, "bf16": bf16},
            f"cuda:{index}: {name}, {memory / GIB:.0f} GiB{', bf16' if bf16 else ''}",
        )


def _corpora() -> Iterator[Finding]:
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


def _tracking() -> Iterator[Finding]:
    version = _version("wandb")
    if version is None:
        yield Finding("wandb", None, "wandb is not installed: set tracking.wandb=off", "missing")
        return
    yield Finding("wandb", version, f"wandb {version}")
    mode = os.environ.get("WANDB_MODE")
    if mode:
        yield Finding("mode", mode, f"WANDB_MODE={mode} is set and overrides tracking.wandb", "note")
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


def _cluster() -> Iterator[Finding]:
    import shutil
    import subprocess

    if shutil.which("sinfo") is None:
        yield Finding("slurm", False, "no SLURM (sinfo not found); studies run on this machine", "missing")
        return
    try:
        answer = subprocess.run(
            ["sinfo", "--noheader", "--format", "%P|%a|%D|%c|%G"],
            capture_output=True,
            text=True,
            timeout=10,
            stdin=subprocess.DEVNULL,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as problem:
        yield Finding("slurm", False, f"SLURM is installed but sinfo fails: {problem}", "note")
        return
    yield Finding("slurm", True, "SLURM answers")
    for line in filter(None, answer.stdout.splitlines()):
        partition, state, nodes, cores, resources = (line.split("|") + [""] * 5)[:5]
        name = partition.rstrip("*")
        yield Finding(
            f"partition {name}",
            {"state": state, "nodes": nodes, "cores": cores, "resources": resources},
            f"partition {partition}: {state}, {nodes} nodes of {cores} cores, {resources}",
        )


def _packages() -> Iterator[Finding]:
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


def _folders() -> Iterator[Finding]:
    import shutil

    from ablatable.config.locate import cache_folder, runs_folder

    for key, folder in (("cache", cache_folder()), ("runs", runs_folder())):
        existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        free = shutil.disk_usage(existing).free
        writable = os.access(existing, os.W_OK)
        text = f"{key}: {folder}{'' if folder.exists() else ' (not made yet)'}, {free / GIB:.1f} GiB free"
        value = {"path": str(folder), "exists": folder.exists(), "writable": writable, "free_bytes": free}
        remedy = f"set ABLATABLE_{key.upper()} to another folder"
        if not writable:
            yield Finding(key, value, f"{text}, not writable: {remedy}", "missing")
        elif free < LOW_DISK:
            yield Finding(key, value, f"{text}, which is little: {remedy}", "note")
        else:
            yield Finding(key, value, text)


def _optional() -> Iterator[Finding]:
    import shutil

    uses = {"git": "a record names the commit it came from", "pdflatex": "the LaTeX tables can be set"}
    for program, use in uses.items():
        if shutil.which(program):
            yield Finding(program, True, f"{program}: {use}")
        else:
            yield Finding(program, False, f"{program}: not found; with it, {use}", "missing")
