"""What a mirror needs of a tracker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ablatable.record.schema import Record
from ablatable.tracking.curves import Point


@dataclass(frozen=True)
class Sample:
    """One sentence of a split with what the model made of it. ``number`` counts the split's sentences from 0."""

    number: int
    source: str
    reference: str
    hypothesis: str


@dataclass(frozen=True)
class Final:
    """What a finished run adds to its curves.

    ``samples`` holds translations by split; ``pictures`` are PNG files by name; ``record_file`` is ``record.json``.
    """

    record: Record
    record_file: Path
    samples: Mapping[str, Sequence[Sample]] = field(default_factory=dict[str, Sequence[Sample]])
    pictures: dict[str, Path] = field(default_factory=dict[str, Path])


class Tracker(Protocol):
    """Shows one run somewhere. All calls come from one thread; whatever is raised ends this tracker, not the run."""

    name: str
    """What a person calls it."""

    def open(self) -> None:
        """Begin to show the run; what an earlier attempt showed is gone on or made anew."""
        ...

    def log(self, points: Sequence[Point]) -> None:
        """Show points, and have them where a kill cannot take them, within a fraction of a second."""
        ...

    def close(self, final: Final | None) -> None:
        """End. None: the run was stopped, or died."""
        ...
