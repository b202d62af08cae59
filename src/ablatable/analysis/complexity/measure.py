"""Making the measurements that are not there yet, one line of the file each."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ablatable.analysis.complexity import counting, layers, paths, timing
from ablatable.analysis.complexity.measurements import FILE, Measurements, begin, read, sole_writer
from ablatable.analysis.complexity.settings import Point, Settings
from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record import stamp
from ablatable.record.events import EventWriter

Progress = Callable[[str, int, int], None]
"""Told what is being measured, how many measurements are made and how many there are to be."""


def measure(settings: Settings, folder: Path, progress: Progress) -> Measurements:
    """Bring ``folder/measurements.jsonl`` to its end and return what it holds.

    It may be stopped at any moment: a line is on disk once it is measured, and the next call makes what is missing.

    Raises:
        InputError: the folder holds measurements of other settings or another machine, or can't be written; or
            the device or so many threads are not there.
        RunFailed: the disk is full.
    """
    machine = _machine(settings)
    path = folder / FILE
    with sole_writer(path):
        found = read(path)
        if found is not None:
            _check(found, settings, machine, path)
        with EventWriter(path) as writer, timing.still(settings.threads):
            if found is None:
                writer.write("begin", **begin(settings, machine))
            _Making(settings, found or Measurements(settings, machine), writer, progress).all()
    made = read(path)
    assert made is not None
    return made


class _Making:
    """What is missing, in order: paths and counts, which are exact, memory, and then the time, round by round."""

    def __init__(self, settings: Settings, found: Measurements, writer: EventWriter, progress: Progress) -> None:
        self._settings = settings
        self._found = found
        self._writer = writer
        self._progress = progress
        self._done, self._expected = found.done, found.expected
        self._calls: dict[Point, timing.Call] = {}

    def all(self) -> None:
        for kind, n, size in self._settings.paths():
            if (kind, n, size) not in self._found.paths:
                length = paths.measure(kind, n, size)
                self._write("path lengths", "path", path=kind, n=n, size=size, length=length)
        for point in self._settings.counted_points():
            if point not in self._found.counts:
                operations, steps = counting.count(self._case(point, "cpu").forward)
                self._write("operations", "count", **_named(point), operations=operations, steps=steps)
        for point in self._settings.memory_points():
            if point not in self._found.memory:
                peak = timing.peak_memory(self._call(point), self._settings.device)
                self._write("memory", "memory", **_named(point), bytes=peak)
        for number in range(self._settings.rounds):
            self._round(number)

    def _round(self, number: int) -> None:
        for point in self._settings.order(number):
            if number in self._found.samples.get(point, {}):
                continue
            wall, busy, calls = timing.sample(self._call(point), self._settings.device, self._settings.sample_seconds)
            about = f"time, round {number + 1} of {self._settings.rounds}"
            self._write(about, "sample", **_named(point), round=number, wall=wall, busy=busy, calls=calls)

    def _call(self, point: Point) -> timing.Call:
        """Layers are kept from round to round: half a gigabyte in all, and no sample pays for building one."""
        if point not in self._calls:
            self._calls[point] = timing.call_of(self._case(point, self._settings.device), self._settings.backward)
        return self._calls[point]

    def _case(self, point: Point, device: str) -> layers.Case:
        return layers.build(*point, self._settings.kernel, self._settings.window, device)

    def _write(self, about: str, kind: str, **fields: object) -> None:
        self._writer.write(kind, **fields)
        self._done += 1
        self._progress(about, self._done, self._expected)


def _named(point: Point) -> dict[str, Any]:
    layer, n, d = point
    return {"layer": layer, "n": n, "d": d}


def _machine(settings: Settings) -> dict[str, Any]:
    here = stamp.hardware()
    if settings.threads > here.cores:
        raise InputError(f"--threads {settings.threads}: this process may use {here.cores} cores; ask for no more")
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: PyTorch sees no CUDA device here; leave it out, or see `ablatable doctor`")
    device = torch.cuda.get_device_name() if settings.device == "cuda" else here.cpu
    commit, dirty = stamp.git_state(Path(stamp.__file__).parents[1])
    return {
        "device": device,
        "cores": here.cores,
        "memory_bytes": here.memory_bytes,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "git_commit": commit,
        "git_dirty_digest": dirty,
    }


def _check(found: Measurements, settings: Settings, machine: dict[str, Any], path: Path) -> None:
    """Refuse to mix what can't be compared."""
    remedy = "choose another folder with --output, or delete the file"
    if found.settings != settings:
        other = ", ".join(name for name in vars(settings) if getattr(settings, name) != getattr(found.settings, name))
        raise InputError(f"{display(path)} was measured with other settings ({other}); {remedy}")
    for name in ("device", "torch"):
        if found.machine.get(name) != machine[name]:
            was = found.machine.get(name)
            raise InputError(f"{display(path)} was measured with {name} {was}, here it is {machine[name]}; {remedy}")
