"""What goes into the launcher and what comes out."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from ablatable.record.job import Job

State = Literal["completed", "failed", "pruned", "crashed", "interrupted"]


@dataclass(frozen=True)
class Queued:
    """A job and what it costs, in any unit that all jobs share: the longest start first."""

    job: Job
    cost: float = 1.0
    """0 for a job that another one trains for."""

    @property
    def name(self) -> str:
        """What a person calls the run: its row and seed."""
        return run_name(self.job)


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    completed, failed, pruned: what its record says. crashed: it died without a record. interrupted: it was
    told to stop. Both of the latter resume when run again.
    """

    queued: Queued
    state: State
    cause: str | None = None
    seconds: float = 0.0
    """Wall time of the process; 0 for a run that another process finished."""
    start_seconds: float | None = None
    """From the request to fork until the first line of the run."""
    skipped: bool = False
    """It had its record already, or another process wrote it meanwhile."""

    @property
    def job(self) -> Job:
        """The run's job."""
        return self.queued.job


@dataclass
class Outcome:
    """How all runs ended, in the order in which they did."""

    ended: list[Ended] = field(default_factory=list[Ended])
    interrupted_by: int | None = None
    """The signal that stopped the runner."""

    def count(self, *states: State) -> int:
        """Runs that ended in one of these states."""
        counts = Counter(ended.state for ended in self.ended)
        return sum(counts[state] for state in states)

    @property
    def exit_code(self) -> int:
        """0: every run is completed or pruned; 1: some failed or crashed; 128 + signal: stopped."""
        if self.interrupted_by is not None:
            return 128 + self.interrupted_by
        return 1 if self.count("failed", "crashed", "interrupted") else 0


def run_name(job: Job) -> str:
    """`row, seed n`, or the id of a run outside any study."""
    row = job.labels.row
    return f"{row}, seed {job.experiment.seed}" if row is not None else job.id


def death_cause(exit_code: int) -> str:
    """Why a process without a record ended, from its exit code (negative: minus the signal)."""
    if exit_code == -signal.SIGKILL:
        return "killed by SIGKILL, perhaps out of memory"
    if exit_code < 0:
        try:
            return f"killed by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"killed by signal {-exit_code}"
    if exit_code == _SERVER_LOST:
        return "the process that starts the runs died, perhaps out of memory"
    if exit_code == 0:
        return "ended without writing its record"
    return f"ended with exit code {exit_code}"


_SERVER_LOST = 255
"""What multiprocessing answers when the server is not there to tell the exit code."""
