"""How many runs fit on this machine at once, and which devices each of them may see.

Never imports torch: devices are counted from the environment and `nvidia-smi`, so that the runner holds no
CUDA context and every run can be given its own devices before torch looks for any.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ablatable.config.runtime import Runtime
from ablatable.errors import InputError

_GPU_LINE = re.compile(r"^GPU (\d+):")
_MIG_LINE = re.compile(r"^\s+MIG .*\(UUID: (MIG-[^)]+)\)")
_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True)
class Slot:
    """A place for one run at a time; `devices` are named as CUDA_VISIBLE_DEVICES names them, none: CPU."""

    index: int
    threads: int = 1
    devices: tuple[str, ...] = ()
    hide_devices: bool = False
    """The machine has CUDA devices and runs on the CPU were asked for: they must not see any."""

    def environment(self) -> dict[str, str]:
        """What to set in the environment of a run before it touches torch."""
        variables = {"OMP_NUM_THREADS": str(self.threads)}
        if self.devices or self.hide_devices:
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(self.devices)
        return variables


def plan_slots(runtimes: Iterable[Runtime], limit: int | None = None) -> list[Slot]:
    """Divide this machine among runs: cores // threads on the CPU, devices // devices-a-run on CUDA.

    Args:
        runtimes: What the runs ask for; the widest of them sets the size of every slot.
        limit: So many slots instead, even where they have to share cores or devices.

    Raises:
        InputError: A run asks for more CUDA devices than there are, or the limit is not positive.
    """
    wanted = list(runtimes) or [Runtime()]
    if limit is not None and limit < 1:
        raise InputError(f"--slots {limit} leaves no place to run; give 1 or more, or leave it out")
    threads = max(runtime.threads for runtime in wanted)
    ranks = max(runtime.devices for runtime in wanted)
    accelerators = {runtime.accelerator for runtime in wanted}
    visible = [] if accelerators == {"cpu"} else cuda_devices()
    if visible:
        starts = range(0, len(visible) - ranks + 1, ranks)
        groups = [tuple(visible[start : start + ranks]) for start in starts]
        if not groups:
            raise InputError(f"runtime.devices={ranks}, but {len(visible)} CUDA devices can be seen; lower it")
        count = limit or len(groups)
        return [Slot(index, threads, groups[index % len(groups)]) for index in range(count)]
    if "cuda" in accelerators:
        raise InputError("runtime.accelerator=cuda, but no CUDA device can be seen; set it to auto or cpu")
    count = limit or max(1, cpu_cores() // (threads * ranks))
    hide = accelerators == {"cpu"}
    return [Slot(index, threads, hide_devices=hide) for index in range(count)]


def cpu_cores() -> int:
    """Cores this process may use: its affinity mask, and the container's quota where there is one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _read_quota(_CGROUP_QUOTA)
    return cores if quota is None else max(1, min(cores, int(quota)))


def cuda_devices() -> list[str]:
    """CUDA devices a run could see: CUDA_VISIBLE_DEVICES, or what `nvidia-smi` lists (MIG slices by UUID)."""
    variable = os.environ.get("CUDA_VISIBLE_DEVICES")
    if variable is not None:
        return _visible(variable)
    if shutil.which("nvidia-smi") is None:
        return []
    try:
        command = ["nvidia-smi", "-L"]
        listing = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []  # a broken driver is no device; `doctor` says more
    return parse_listing(listing.stdout) if listing.returncode == 0 else []


def parse_listing(listing: str) -> list[str]:
    """Device names in the output of `nvidia-smi -L`; a device divided by MIG counts as its slices."""
    devices: list[str] = []
    whole: str | None = None
    for line in listing.splitlines():
        if match := _GPU_LINE.match(line):
            whole = match[1]
            devices.append(match[1])
        elif match := _MIG_LINE.match(line):
            if whole is not None:
                devices.remove(whole)
                whole = None
            devices.append(match[1])
    return devices


def _visible(variable: str) -> list[str]:
    """CUDA stops at the first entry that names no device, such as -1."""
    devices: list[str] = []
    for entry in (part.strip() for part in variable.split(",")):
        if not entry or entry.startswith("-"):
            break
        devices.append(entry)
    return devices


def _read_quota(path: Path) -> float | None:
    """Cores a cgroup (version 2) grants: quota / period; None where it sets no limit."""
    try:
        quota, period = path.read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return None
