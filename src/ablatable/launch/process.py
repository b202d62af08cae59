"""A process out of the warm server: started, listened to, stopped, and cleaned up after."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from ablatable.launch import child, server
from ablatable.launch.child import Begun, Broken, Call
from ablatable.launch.interrupts import Interrupted, Interrupts
from ablatable.launch.outcome import death_cause

TICK_SECONDS = 0.25
"""How long a wait for processes lasts at most before the runner looks at everything else."""

_GRACE_SECONDS = 10.0


def call_in_child(target: str, *arguments: Any, preload: Sequence[str] | None = None) -> None:
    """Call a function in a process of its own out of the warm server, so that the caller never imports torch.

    Raises:
        InputError, RunFailed: The function raised it; any other exception, or a death, is a RunFailed.
        Interrupted: SIGINT or SIGTERM came meanwhile; the process was stopped.
    """
    preload = preload or server.preload_list(wandb=False)
    with Interrupts() as interrupts:
        warm_up(preload, interrupts)
        process = Process(Call(target, arguments), preload)
        while process.alive:
            process.wait(TICK_SECONDS)
            if interrupts.number is not None:
                stop([process], interrupts)
                raise Interrupted(interrupts.number)
        code = process.close()
    if process.broken is not None:
        raise process.broken.error()
    if code != 0:
        raise Broken("RunFailed", f"{target.rpartition(':')[2]}: {death_cause(code)}").error()


def warm_up(preload: Sequence[str], interrupts: Interrupts) -> None:
    """Wait for the server's imports, some seconds, so that no later start waits.

    Raises:
        Interrupted: A signal came meanwhile.
    """
    process = server.start(preload).Process(target=_nothing)
    with interrupts.urgent():
        process.start()
        process.join()


def _nothing() -> None:
    """The work of the process whose start shows that the server is warm."""


class Process:
    """One process out of the warm server, and what it told."""

    def __init__(self, call: Call, preload: Sequence[str]) -> None:
        context = server.start(preload)
        receiver, sender = context.Pipe(duplex=False)
        self.asked = time.monotonic()
        self.begun: Begun | None = None
        self.broken: Broken | None = None
        self._receiver: Connection = receiver
        self._process: ForkServerProcess = context.Process(target=child.main, args=(call, sender))
        self._process.start()
        sender.close()

    @property
    def sentinel(self) -> int:
        """Ready when the process has ended."""
        return self._process.sentinel

    @property
    def pid(self) -> int:
        """Its number, which is its process group's too."""
        if self._process.pid is None:
            raise RuntimeError("a process has its number from its start on")
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.exitcode is None

    def wait(self, seconds: float) -> None:
        """Until it has ended, but not longer."""
        connection.wait([self.sentinel], timeout=seconds)

    def terminate(self) -> None:
        """Ask it to stop. What it started is its own business."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it, and whatever it started and left in its process group."""
        if self.alive:
            self._process.kill()
        if self._process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> int:
        """After its end: read what it told, end what it left behind, return the exit code."""
        code = self._process.exitcode
        if code is None:
            raise RuntimeError("close() is for a process that has ended")
        with contextlib.suppress(EOFError, OSError):  # a process that died told nothing more
            while self._receiver.poll():
                message: object = self._receiver.recv()
                if isinstance(message, Begun):
                    self.begun = message
                elif isinstance(message, Broken):
                    self.broken = message
        if code != 0:
            self.kill()
        self._receiver.close()
        self._process.close()
        return code


def stop(processes: Sequence[Process], interrupts: Interrupts) -> None:
    """SIGTERM, some seconds of grace, then SIGKILL; a second Ctrl-C ends the grace."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _GRACE_SECONDS
    while alive := [process for process in processes if process.alive]:
        if time.monotonic() > deadline or interrupts.count > 1:
            for process in alive:
                process.kill()
        connection.wait([process.sentinel for process in alive], timeout=TICK_SECONDS)
