"""The run's diary, ``events.jsonl``: what the live progress reads and what remains of a killed run.

Kinds and fields: ``start {updates, labels, changed}``; ``train {update, updates, loss, nll, learning_rate,
source_tokens, target_tokens, seconds}``; ``valid {update, nll, ppl, accuracy}``; ``decode {done, total}``;
``resume {update}``; ``finish {status, cause}``.
Every event also carries ``kind`` and ``time`` (seconds since the epoch).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ablatable.errors import InputError
from ablatable.record.files import disk_errors


class EventWriter:
    """Appends events, each on disk before `write` returns: about a millisecond, so not every step."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._end = _whole_lines(path)
        # A kill in mid-write leaves part of a line; a new event must not be glued to it.
        os.ftruncate(self._handle, self._end)

    def write(self, kind: str, **fields: object) -> None:
        """Append one event. Values not finite become null. Raises RunFailed when the disk is full."""
        event: dict[str, object] = {"kind": kind, "time": round(time.time(), 3)}
        event.update({name: _plain(value) for name, value in fields.items()})
        line = json.dumps(event, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
        with disk_errors(self._path):
            try:
                self._append(line)
            except OSError:
                # A torn tail is skipped by readers anyway, so the first error is the one to report.
                with contextlib.suppress(OSError):
                    os.ftruncate(self._handle, self._end)
                raise
        self._end += len(line)

    def _append(self, line: bytes) -> None:
        written = 0
        while written < len(line):
            written += os.pwrite(self._handle, line[written:], self._end + written)
        os.fsync(self._handle)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_events(path: Path) -> list[dict[str, Any]]:
    """Every whole event, oldest first; an empty list when there is no file.

    A last line without its newline is still being written, or was torn by a kill: it is skipped. A damaged
    line elsewhere is an InputError that names the file and the line.
    """
    return EventTail(path).read()


class EventTail:
    """Follows a ledger as it grows: each call gives the whole events that came since the last one.

    A line is taken once its newline is there, so a torn end is read when the writer has replaced it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._lines = 0

    def read(self) -> list[dict[str, Any]]:
        """The new events, oldest first. Raises InputError for a damaged line, naming it, or a ledger cut short."""
        try:
            with open(self._path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                if size < self._offset:
                    raise InputError(f"{self._path} was cut short while it was followed; something else writes there")
                file.seek(self._offset)
                content = file.read(size - self._offset)
        except FileNotFoundError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        events = [self._event(line, number) for number, line in enumerate(whole.split(b"\n")[:-1], self._lines + 1)]
        self._offset += len(whole)
        self._lines += len(events)
        return events

    def _event(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            event: Any = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or "kind" not in event:
            raise InputError(
                f"{self._path}, line {number}, is not an event: delete that line, or move the run's folder away "
                "and run it again"
            )
        return event  # pyright: ignore[reportUnknownVariableType] (untyped JSON)


def _whole_lines(path: Path) -> int:
    """Length in bytes of the file up to and including its last newline."""
    return path.read_bytes().rfind(b"\n") + 1


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
