"""What the machine has: processor, memory, devices, cluster, disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from ablatable.cli.findings.finding import GIB, Finding

BF16_FLAGS = ("amx_bf16", "avx512_bf16", "bf16", "svebf16")
"""Processor flags (x86, then ARM) without which bf16 arithmetic is emulated."""
LOW_DISK = 5 * GIB
"""A study at the cpu scale with its data and checkpoints stays below this."""


def machine() -> Iterator[Finding]:
    """Processor, cores, memory, and whether bf16 arithmetic is more than emulated."""
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


def accelerators() -> Iterator[Finding]:
    """CUDA devices, or why there is none."""
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


def cluster() -> Iterator[Finding]:
    """SLURM and its partitions."""
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


def folders() -> Iterator[Finding]:
    """Where runs and fetched data go, and the room there is."""
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
