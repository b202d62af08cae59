"""How a sweep's progress is shown: a live table on a terminal, plain lines elsewhere, nothing for scripts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ablatable.launch.outcome import Queued
from ablatable.launch.progress import run_line, runs_table
from ablatable.launch.trial import Finished, Running
from ablatable.launch.view import RunView
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.status import best_line, counts_line
from ablatable.study.sweep.trials import Tried

_LINE_SECONDS = 20.0
_DRAW_SECONDS = 0.5
_COUNT_SECONDS = 3.0
"""Between two readings of everybody's trials."""

Trials = Callable[[], Sequence[Tried]]


class SweepProgress(Protocol):
    """Sees what happens to the trials; never changes it."""

    def begin(self, plan: Plan, workers: int) -> None:
        """The sweep goes on here, with so many trials at a time."""
        ...

    def began(self, run: Running) -> None:
        """A trial was taken."""
        ...

    def started(self, run: Running) -> None:
        """A process was forked for one of its runs."""
        ...

    def ended(self, run: Running, finished: Finished) -> None:
        """A trial ended."""
        ...

    def tick(self, trials: Trials) -> None:
        """Some time passed; `trials` reads everybody's."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Silent:
    """Shows nothing."""

    def begin(self, plan: Plan, workers: int) -> None:
        """Show nothing."""

    def began(self, run: Running) -> None:
        """Show nothing."""

    def started(self, run: Running) -> None:
        """Show nothing."""

    def ended(self, run: Running, finished: Finished) -> None:
        """Show nothing."""

    def tick(self, trials: Trials) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing to clean up."""


class Lines:
    """For logs and pipes: one line per ended trial, and now and then one about what runs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._views: dict[int, RunView] = {}
        self._total = ""
        self._told = self._counted = time.monotonic()

    def begin(self, plan: Plan, workers: int) -> None:
        """Say what is run."""
        self._plan = plan
        at_once = "1 trial" if workers == 1 else f"{workers} trials"
        self._say(f"sweep {plan.sweep.name}: {at_once} at a time")

    def began(self, run: Running) -> None:
        """Say which point it is."""
        point = ", ".join(f"{path.rpartition('.')[2]}={_short(value)}" for path, value in run.claimed.point.items())
        self._say(f"{run.name}: {point}")

    def started(self, run: Running) -> None:
        """Note it."""
        self._views[run.claimed.number] = RunView(Queued(run.job))

    def ended(self, run: Running, finished: Finished) -> None:
        """Say how."""
        self._views.pop(run.claimed.number, None)
        self._say(ended_line(self._plan, run, finished))

    def tick(self, trials: Trials) -> None:
        """Print a line about what runs when it is due."""
        if time.monotonic() - self._told < _LINE_SECONDS:
            return
        self._told = time.monotonic()
        self._count(trials)
        for view in self._views.values():
            view.refresh()
        self._say("; ".join([self._total, *(run_line(view) for view in self._views.values())]))

    def close(self) -> None:
        """Nothing to clean up."""

    def _count(self, trials: Trials) -> None:
        self._counted = time.monotonic()
        found = trials()
        self._total = counts_line(found, self._plan.sweep.budget) + best_line(found, self._plan.sweep)

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


class Screen(Lines):
    """For a terminal: ended trials scroll by above a table of what runs."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._drawn = 0.0
        self._counted = 0.0

    def begin(self, plan: Plan, workers: int) -> None:
        """Open the table."""
        super().begin(plan, workers)
        self._live.start()

    def tick(self, trials: Trials) -> None:
        """Redraw twice a second."""
        if time.monotonic() - self._drawn < _DRAW_SECONDS:
            return
        self._drawn = time.monotonic()
        if time.monotonic() - self._counted >= _COUNT_SECONDS:
            self._count(trials)
        for view in self._views.values():
            view.refresh()
        self._live.update(Group(runs_table(self._views.values()), Text(self._total, style="bold")), refresh=True)

    def close(self) -> None:
        """Take the table away; the lines above it stay."""
        self._live.stop()


def ended_line(plan: Plan, run: Running, finished: Finished) -> str:
    """How one trial ended."""
    if finished.state == "completed":
        from ablatable.study.sweep.verdict import verdict

        _, values, _ = verdict(plan.sweep, finished.state, finished.cause, finished.records)
        if values is not None:
            found = zip(plan.sweep.objectives, values, strict=True)
            return f"{run.name}: " + ", ".join(f"{one.key} {value:.5g}" for one, value in found)
    return f"{run.name}: {finished.state}{f': {finished.cause}' if finished.cause else ''}"


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
