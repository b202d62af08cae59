"""The first lines of a process forked from the warm server, before the run itself starts."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ablatable.errors import InputError, RunFailed
from ablatable.launch import orphans


@dataclass(frozen=True)
class Call:
    """A function to call in a process of its own: `target` is `module:function`."""

    target: str
    arguments: tuple[Any, ...]
    log: Path | None = None
    """Takes stdout and stderr, appended; None: both go to the runner's stderr."""
    environment: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Begun:
    """Sent by a process in front of the first line of its function; `at` is `time.monotonic()`."""

    at: float


@dataclass(frozen=True)
class Broken:
    """Sent by a process whose function raised: the class of ours it belongs to, if any, and what it said."""

    kind: str
    message: str

    def error(self) -> Exception:
        """The exception to raise on the runner's side of the border."""
        kinds: dict[str, type[Exception]] = {"InputError": InputError, "RunFailed": RunFailed}
        return kinds[self.kind](self.message) if self.kind in kinds else RunFailed(str(self))

    def __str__(self) -> str:
        ours = self.kind in ("InputError", "RunFailed")
        return self.message if ours else f"{self.kind}: {self.message}"


def main(call: Call, report: Connection) -> None:
    """Make this process a good child of the runner, then call."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _join_runner()
    try:
        os.environ.update(call.environment)
        _redirect(call.log)
        function = _find(call.target)
        report.send(Begun(time.monotonic()))
        function(*call.arguments)
    except Exception as error:  # whatever it is, the runner is told and it is raised again: nothing is swallowed
        with contextlib.suppress(BrokenPipeError):  # the runner is gone, and this process about to follow it
            report.send(Broken(type(error).__name__, str(error)))
        if call.log is None and isinstance(error, InputError | RunFailed):
            sys.exit(1)  # the runner raises it again: nothing to add here
        raise  # multiprocessing prints the traceback, into the log, and exits 1


def _join_runner() -> None:
    """Never outlive the runner, don't hear the terminal's Ctrl-C, be the first to go when memory runs out."""
    warm = sys.modules["ablatable.launch.warm"]
    if warm.SERVER is not None:
        orphans.die_with(warm.SERVER)
    os.setsid()
    orphans.watch_runner()
    with contextlib.suppress(OSError):  # not Linux, or /proc read-only: the kernel then chooses by size
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _redirect(log: Path | None) -> None:
    """Send stdout and stderr to the log, the C libraries' too, and none to the command's own stdout."""
    if log is None:
        os.dup2(2, 1)
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    print(f"--- {now} process {os.getpid()} ---", file=sys.stderr, flush=True)


def _find(target: str) -> Callable[..., object]:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
