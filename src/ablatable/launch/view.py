"""What the progress shows, apart from how: the state of every run, from its events, and the time left."""

from __future__ import annotations

import heapq
import json
import math
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ablatable.launch.outcome import Ended, Queued
from ablatable.record.store import EVENTS_FILE

_WINDOW = 12
"""Speed is taken over so many of the latest training events."""


class Tail:
    """Reads a growing JSON-lines file piece by piece; a line without its end is left for the next time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new_events(self) -> list[dict[str, Any]]:
        """Events written since the last call; what is not a JSON object is skipped: this is only a view."""
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._offset:  # truncated by a resumed run that dropped a torn line
                    self._offset = 0
                file.seek(self._offset)
                content = file.read()
        except OSError:
            return []
        whole = content.rfind(b"\n") + 1
        self._offset += whole
        return [event for line in content[:whole].split(b"\n") if (event := _parse(line)) is not None]


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        event: Any = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None  # pyright: ignore[reportUnknownVariableType] (untyped JSON)


@dataclass
class RunView:
    """One running run, as its events tell it."""

    queued: Queued
    began: float = field(default_factory=time.time)
    """Events older than this are an earlier attempt's."""
    update: int = 0
    updates: int = 0
    loss: float | None = None
    valid_ppl: float | None = None
    decoded: tuple[int, int] | None = None
    _points: deque[tuple[float, int, int]] = field(
        default_factory=lambda: deque[tuple[float, int, int]](maxlen=_WINDOW)
    )
    """(time, update, tokens) of the latest training events of this attempt."""

    def __post_init__(self) -> None:
        self.updates = self.updates or self.queued.job.experiment.train.updates
        self._tail = Tail(self.queued.job.folder / EVENTS_FILE)

    def refresh(self) -> None:
        """Read what the run has written since the last time."""
        for event in self._tail.new_events():
            self.apply(event)

    def apply(self, event: dict[str, Any]) -> None:
        """Take one event into account (`record.events` lists their kinds)."""
        match event.get("kind"):
            case "start" | "resume":
                self._points.clear()
                self.update = int(event.get("update") or self.update)
            case "train":
                self._train(event)
            case "valid":
                self.valid_ppl = event.get("ppl")
            case "decode":
                self.decoded = (int(event.get("done") or 0), int(event.get("total") or 0))
            case _:
                pass

    def _train(self, event: dict[str, Any]) -> None:
        self.decoded = None
        self.update = int(event.get("update") or 0)
        self.updates = int(event.get("updates") or self.updates)
        loss = event.get("loss")
        self.loss = loss if loss is not None else math.nan
        tokens = int(event.get("source_tokens") or 0) + int(event.get("target_tokens") or 0)
        at = float(event.get("time") or 0.0)
        if at >= self.began:
            self._points.append((at, self.update, tokens))

    @property
    def share(self) -> float:
        """Part of the training done, 0 to 1."""
        return min(1.0, self.update / self.updates) if self.updates else 0.0

    @property
    def tokens_per_second(self) -> float | None:
        """Source and target tokens a second over the latest events."""
        return self._speed(2)

    @property
    def seconds_left(self) -> float | None:
        """Until the last update, at the speed of the latest events; what follows it is not counted."""
        speed = self._speed(1)
        return None if not speed else max(0, self.updates - self.update) / speed

    @property
    def whole_seconds(self) -> float | None:
        """How long the whole run takes at the speed of the latest events."""
        speed = self._speed(1)
        return None if not speed else self.updates / speed

    def _speed(self, column: int) -> float | None:
        if len(self._points) < 2:
            return None
        first, last = self._points[0], self._points[-1]
        seconds, gained = last[0] - first[0], last[column] - first[column]
        return gained / seconds if seconds > 0 and gained >= 0 else None


class Board:
    """All runs of one launch."""

    def __init__(self) -> None:
        self.waiting: dict[str, Queued] = {}
        self.held: dict[str, Queued] = {}
        self.running: dict[str, RunView] = {}
        self.ended: list[Ended] = []
        self.slots = 1

    def begin(self, queued: Iterable[Queued], slots: int) -> None:
        """Every run waits."""
        self.waiting = {item.job.id: item for item in queued}
        self.slots = slots

    def started(self, queued: Queued) -> None:
        """It runs now."""
        self._forget(queued)
        self.running[queued.job.id] = RunView(queued)

    def hold(self, queued: Queued) -> None:
        """Another process runs it."""
        self._forget(queued)
        self.held[queued.job.id] = queued

    def end(self, ended: Ended) -> None:
        """It has ended."""
        self._forget(ended.queued)
        self.ended.append(ended)

    def refresh(self) -> None:
        """Read the new events of what runs."""
        for view in self.running.values():
            view.refresh()

    def _forget(self, queued: Queued) -> None:
        for place in (self.waiting, self.held, self.running):
            place.pop(queued.job.id, None)

    @property
    def total(self) -> int:
        """Number of runs."""
        return len(self.waiting) + len(self.held) + len(self.running) + len(self.ended)

    def seconds_left(self) -> float | None:
        """Until all has run, but for the runs of other processes; None while nothing tells the speed."""
        rate = self._seconds_per_cost()
        if rate is None:
            return None if self.waiting or self.running else 0.0
        running = [_known(view.seconds_left, view.queued.cost * rate) for view in self.running.values()]
        costs = sorted((item.cost for item in self.waiting.values()), reverse=True)
        return makespan(running, [cost * rate for cost in costs], self.slots)

    def _seconds_per_cost(self) -> float | None:
        known = [
            (ended.seconds, ended.queued.cost)
            for ended in self.ended
            if ended.state == "completed" and not ended.skipped
        ]
        for view in self.running.values():
            whole = view.whole_seconds
            if whole is not None:
                known.append((whole, view.queued.cost))
        cost = sum(cost for _, cost in known)
        return sum(seconds for seconds, _ in known) / cost if cost > 0 else None


def makespan(running: Sequence[float], waiting: Sequence[float], slots: int) -> float:
    """Seconds until all is done: each waiting run, in order, takes the slot that is free first."""
    free = [*running, *([0.0] * (slots - len(running)))]
    heapq.heapify(free)
    for seconds in waiting:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free, default=0.0)


def _known(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def short_time(seconds: float | None) -> str:
    """`45 s`, `12 min`, `3 h 05 min`; a dash where nothing is known."""
    if seconds is None:
        return "-"
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
