"""From events of the ledger to what a tracker draws: one point an event, with its place on every x axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

AXES = ("update", "source_tokens", "target_tokens", "seconds")
"""What any curve may be drawn against. Tokens leave out padding; seconds are of training alone."""

VALUES = {
    "train": ("loss", "nll", "learning_rate"),
    "valid": ("nll", "ppl", "accuracy"),
}
"""What is drawn of each kind of event, under ``kind/name``."""


@dataclass(frozen=True)
class Point:
    """What one event says. ``step`` is the event's place in the ledger, from 0: it only ever rises."""

    step: int
    axes: dict[str, float]
    values: dict[str, float]

    @property
    def update(self) -> int:
        """The update it was measured at."""
        return int(self.axes["update"])


class Curves:
    """Turns a ledger, piece by piece, into points."""

    def __init__(self) -> None:
        self._step = 0
        self._axes: dict[str, float] = {}

    def take(self, events: Iterable[dict[str, Any]]) -> list[Point]:
        """The points of events that follow those taken before.

        What an attempt did after the checkpoint that the next one resumed from was done again: of such pairs that come
        in one call, the later stay.
        """
        points: list[Point] = []
        for event in events:
            match event["kind"]:
                case "start":
                    points = []
                case "resume":
                    points = [point for point in points if point.update <= event["update"]]
                case "train" | "valid":
                    points += self._points(event)
                case _:
                    pass
            self._step += 1
        return points

    def _points(self, event: dict[str, Any]) -> list[Point]:
        if event["update"] != self._axes.get("update"):
            self._axes = {}
        # A validation says only its update: tokens and seconds are those of the report right before it.
        self._axes |= {name: event[name] for name in AXES if event.get(name) is not None}
        kind = event["kind"]
        values = {f"{kind}/{name}": event[name] for name in VALUES[kind] if event.get(name) is not None}
        return [Point(self._step, dict(self._axes), values)] if values else []
