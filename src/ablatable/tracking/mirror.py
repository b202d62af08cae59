"""Trackers as mirrors of the ledger: they show what the run wrote, so tracking cannot change training.

One thread of the run's main process follows ``events.jsonl`` and is the only one that calls a tracker: training never
waits for one, also not for its start. Also with several devices there is one such thread, and one run in each tracker.
A tracker that fails is said once and left out; the run goes on and the ledger has everything.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from ablatable.errors import InputError
from ablatable.record.events import EventTail
from ablatable.tracking.curves import Curves
from ablatable.tracking.tracker import Final, Tracker

POLL_SECONDS = 0.4
"""Between looks at the ledger. With the trackers' own delays it stays below the second a killed run may lose."""
_PATIENCE_SECONDS = 120.0
"""How long a finished run waits for a tracker that still sends."""


class Mirror:
    """Follows one run's ledger into its trackers; with no tracker it does nothing at all."""

    def __init__(self, ledger: Path, trackers: Sequence[Tracker]) -> None:
        self._tail: EventTail | None = EventTail(ledger)
        self._curves = Curves()
        self._trackers = list(trackers)
        self._final: Final | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="mirror", daemon=True)
        if self._trackers:
            self._thread.start()

    def summarise(self, final: Callable[[], Final]) -> None:
        """Show what the finished run came to. Asked for only where there is a tracker."""
        if self._trackers:
            try:
                self._final = final()
            except Exception as error:  # noqa: BLE001 - a run that has its record is not to fail for a picture of it
                _say(f"the trackers show no end of this run: {_text(error)}")

    def close(self) -> None:
        """Show what is left and end; a tracker that takes too long is left behind."""
        self._stop.set()
        if not self._thread.is_alive():
            return
        self._thread.join(_PATIENCE_SECONDS)
        if self._thread.is_alive():
            _say(f"{_names(self._trackers)} still sends after {_PATIENCE_SECONDS:.0f} s and is left behind")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _follow(self) -> None:
        self._each(lambda tracker: tracker.open())
        while not self._stop.wait(POLL_SECONDS):
            self._forward()
        self._forward()
        self._each(lambda tracker: tracker.close(self._final))

    def _forward(self) -> None:
        if self._tail is None:
            return
        try:
            points = self._curves.take(self._tail.read())
        except (InputError, KeyError, OSError) as error:
            # The record does not depend on the mirror: a damaged diary must not end a run that is otherwise well.
            _say(f"{_names(self._trackers)} shows this run only in part: {_text(error)}")
            self._tail = None
            return
        if points:
            self._each(lambda tracker: tracker.log(points))

    def _each(self, action: Callable[[Tracker], None]) -> None:
        for tracker in list(self._trackers):
            try:
                action(tracker)
            except Exception as error:  # noqa: BLE001 - whatever a tracker raises: it is told, and the run goes on
                _say(f"{tracker.name} shows this run only in part: {_text(error)}")
                self._trackers.remove(tracker)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def _names(trackers: Sequence[Tracker]) -> str:
    return " and ".join(tracker.name for tracker in trackers) or "no tracker"
