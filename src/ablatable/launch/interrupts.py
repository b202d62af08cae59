"""Ctrl-C and SIGTERM as a wish that the runner looks at, so that no process is lost while it starts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self


class Interrupted(Exception):
    """Stop was asked for while something was under way."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell expects: 128 plus the signal."""
        return 128 + self.number


class Interrupts:
    """While entered, counts SIGINT and SIGTERM instead of dying of them. Nothing outside the main thread."""

    def __init__(self) -> None:
        self.number: int | None = None
        """The first signal that came; None: go on."""
        self.count = 0
        self._urgent = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell's background job
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType] (as signal.signal returned it)

    @contextmanager
    def urgent(self) -> Generator[None]:
        """Inside, a signal raises Interrupted at once: for the seconds spent on the server's imports."""
        self._urgent = True
        try:
            yield
        finally:
            self._urgent = False

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.number is None:
            self.number = number
        if self._urgent:
            raise Interrupted(self.number)
