"""The file of measurements: appended to while they are made, so that a killed run goes on, and all that the table and
the picture are made from.

``measurements.jsonl`` has one JSON object a line: ``begin {settings, machine}`` first; then, in any order, ``count
{layer, n, d, operations, steps}``, ``memory {layer, n, d, bytes}``, ``path {path, n, size, length}`` and ``sample
{layer, n, d, round, wall, busy, calls}``, seconds a call. ``time`` says when a line was written, in seconds since the
epoch.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ablatable.analysis.complexity.settings import Point, Settings
from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record.events import read_events
from ablatable.record.locks import lock_file, take

FILE = "measurements.jsonl"

Path3 = tuple[str, int, int]
"""Kind of path, n, and k or r."""


@dataclass(frozen=True)
class Sample:
    """Seconds of one call: by the clock on the wall, and of the processor's work for this process."""

    wall: float
    busy: float


@dataclass
class Measurements:
    """What a file holds.

    Args:
        settings: what was to be measured.
        machine: what it was measured on, by name.
        counts: operations and dependent products of a forward pass.
        memory: bytes at the peak.
        paths: maximum path lengths.
        samples: of every point, by round.
    """

    settings: Settings
    machine: dict[str, Any]
    counts: dict[Point, tuple[int, int]] = field(default_factory=dict[Point, tuple[int, int]])
    memory: dict[Point, int] = field(default_factory=dict[Point, int])
    paths: dict[Path3, int] = field(default_factory=dict[Path3, int])
    samples: dict[Point, dict[int, Sample]] = field(default_factory=dict[Point, dict[int, Sample]])

    @property
    def done(self) -> int:
        """How many of the single measurements there are."""
        return len(self.counts) + len(self.memory) + len(self.paths) + sum(map(len, self.samples.values()))

    @property
    def expected(self) -> int:
        """How many there are to be."""
        s = self.settings
        once = (list(s.paths()), s.counted_points(), s.memory_points())
        return sum(map(len, once)) + s.rounds * len(s.points())

    def seconds(self, point: Point) -> list[float]:
        """Time of one call in each round.

        One thread on the processor: its own seconds, which leave out what other programs took and are the clock's on
        an idle machine. Several threads or a device: seconds by the clock.
        """
        by_clock = self.settings.threads > 1 or self.settings.device != "cpu"
        return [one.wall if by_clock else one.busy for _, one in sorted(self.samples[point].items())]

    @property
    def shared(self) -> float:
        """The share of the time in which something else had the processor; 0 on an idle machine."""
        every = [one for rounds in self.samples.values() for one in rounds.values()]
        wall, busy = sum(one.wall for one in every), sum(one.busy for one in every)
        return max(0.0, 1 - busy / wall) if wall and self.settings.device == "cpu" else 0.0


def read(path: Path) -> Measurements | None:
    """What ``path`` holds so far; None where there is no file, or none with a whole line.

    Raises:
        InputError: the file is no file of measurements, or is damaged.
    """
    events = read_events(path)
    if not events:
        return None
    try:
        begin = events[0]
        found = Measurements(_settings().validate_python(begin["settings"]), dict(begin["machine"]))
        for event in events[1:]:
            _add(found, event)
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise InputError(
            f"{display(path)} does not hold measurements of `ablatable complexity` ({type(error).__name__}: "
            f"{str(error).splitlines()[0]}); choose another folder with --output, or delete the file"
        ) from error
    return found


def begin(settings: Settings, machine: dict[str, Any]) -> dict[str, Any]:
    """The fields of the first line."""
    return {"settings": json.loads(_settings().dump_json(settings)), "machine": machine}


@contextmanager
def sole_writer(path: Path) -> Generator[None]:
    """Hold the folder of ``path``, making it, for this process; freed however it dies.

    Raises:
        InputError: another process measures into it, or it can't be written.
    """
    with lock_file(path, "choose another folder with --output") as handle:
        if not take(handle):
            raise InputError(
                f"{display(path)} is being written by another process; wait for it, or choose another folder with "
                "--output"
            )
        yield


def _add(found: Measurements, event: dict[str, Any]) -> None:
    match event["kind"]:
        case "path":
            found.paths[str(event["path"]), int(event["n"]), int(event["size"])] = int(event["length"])
        case "count":
            found.counts[_point(event)] = (int(event["operations"]), int(event["steps"]))
        case "memory":
            found.memory[_point(event)] = int(event["bytes"])
        case "sample":
            sample = Sample(float(event["wall"]), float(event["busy"]))
            found.samples.setdefault(_point(event), {})[int(event["round"])] = sample
        case other:
            raise ValueError(f"a line of kind {other!r}")


def _point(event: dict[str, Any]) -> Point:
    return str(event["layer"]), int(event["n"]), int(event["d"])


@functools.cache
def _settings() -> TypeAdapter[Settings]:
    return TypeAdapter(Settings)
