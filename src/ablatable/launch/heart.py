"""Signs of life for the trials of this process, where the storage is a database that other machines look at."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from ablatable.launch.trial import Running
from ablatable.study.sweep.keeper import Keeper


class Heart:
    """While entered, a thread beats for whatever runs: the main thread may be busy proposing a point for a minute."""

    def __init__(self, keeper: Keeper, running: Sequence[Running]) -> None:
        self._keeper = keeper
        self._running = running
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)

    def __enter__(self) -> Self:
        if self._keeper.heartbeat is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Raise in the main thread what ended the beating."""
        if self._error is not None:
            raise self._error

    def _beat(self) -> None:
        try:
            while not self._stop.wait(self._keeper.heartbeat):
                for run in list(self._running):
                    self._keeper.beat(run.claimed.trial_id)
        except Exception as error:  # noqa: BLE001 (whatever it is, the main thread raises it again)
            self._error = error
