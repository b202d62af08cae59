"""How the progress is shown: a live table on a terminal, plain lines elsewhere, nothing for scripts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ablatable.config.locate import display
from ablatable.launch.outcome import Ended, Queued
from ablatable.launch.view import Board, RunView, short_time

_HEARTBEAT_SECONDS = 20.0
_REDRAW_SECONDS = 0.5


class Silent:
    """Shows nothing."""

    def begin(self, queued: Sequence[Queued], slots: int) -> None:
        """Show nothing."""

    def started(self, queued: Queued) -> None:
        """Show nothing."""

    def held(self, queued: Queued) -> None:
        """Show nothing."""

    def ended(self, ended: Ended) -> None:
        """Show nothing."""

    def tick(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Show nothing."""


class _Boarded:
    """Keeps the board; what a heading, an ended run and the total say is the same for both views."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._board = Board()

    def begin(self, queued: Sequence[Queued], slots: int) -> None:
        """Say how many runs there are."""
        self._board.begin(queued, slots)
        at_once = min(slots, len(queued))
        what = "1 run" if len(queued) == 1 else f"{len(queued)} runs"
        self._say(f"{what} to do, {at_once} at a time")

    def started(self, queued: Queued) -> None:
        """Note it."""
        self._board.started(queued)

    def held(self, queued: Queued) -> None:
        """Say it."""
        self._board.hold(queued)
        self._say(f"{queued.name}: another process trains it; waiting for that one")

    def ended(self, ended: Ended) -> None:
        """Say it."""
        self._board.end(ended)
        self._say(ended_line(ended))

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


class Lines(_Boarded):
    """For logs and pipes: one line per ended run, and now and then one about what runs."""

    def __init__(self, console: Console, heartbeat: float = _HEARTBEAT_SECONDS) -> None:
        super().__init__(console)
        self._heartbeat = heartbeat
        self._last = time.monotonic()

    def begin(self, queued: Sequence[Queued], slots: int) -> None:
        """Say how many runs there are; the first heartbeat is one period away."""
        super().begin(queued, slots)
        self._last = time.monotonic()

    def tick(self) -> None:
        """Print the heartbeat when it is due."""
        if time.monotonic() - self._last < self._heartbeat:
            return
        self._last = time.monotonic()
        self._board.refresh()
        runs = "; ".join(run_line(view) for view in self._board.running.values())
        self._say(f"{total_line(self._board)}{': ' if runs else ''}{runs}")

    def close(self) -> None:
        """Nothing to clean up."""


class Screen(_Boarded):
    """For a terminal: ended runs scroll by above a table of what runs."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._last = 0.0

    def begin(self, queued: Sequence[Queued], slots: int) -> None:
        """Open the table."""
        super().begin(queued, slots)
        self._live.start()
        self._draw()

    def started(self, queued: Queued) -> None:
        """Add a line to the table."""
        super().started(queued)
        self._draw()

    def tick(self) -> None:
        """Redraw twice a second."""
        if time.monotonic() - self._last >= _REDRAW_SECONDS:
            self._draw()

    def close(self) -> None:
        """Take the table away; the lines above it stay."""
        self._live.stop()

    def _draw(self) -> None:
        self._last = time.monotonic()
        self._board.refresh()
        self._live.update(screen(self._board), refresh=True)


def screen(board: Board) -> RenderableType:
    """The table of running runs and the total below it."""
    return Group(runs_table(board.running.values()), Text(total_line(board), style="bold"))


def runs_table(views: Iterable[RunView]) -> Table:
    """One line for each running run."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("run", no_wrap=True, max_width=32)
    table.add_column("", width=16)
    for heading in ("update", "loss", "valid ppl", "tokens/s", "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for view in views:
        bar = ProgressBar(total=1.0, completed=view.share, width=16)
        table.add_row(Text(view.queued.name), bar, *_cells(view))
    return table


def _cells(view: RunView) -> list[str]:
    loss = "-" if view.loss is None else f"{view.loss:.3f}"
    ppl = "-" if view.valid_ppl is None else f"{view.valid_ppl:.2f}"
    if view.decoded is not None:
        return [f"decoding {view.decoded[0]}/{view.decoded[1]}", loss, ppl, "-", "-"]
    speed = view.tokens_per_second
    tokens = "-" if speed is None else f"{speed:,.0f}"
    return [f"{view.update}/{view.updates}", loss, ppl, tokens, short_time(view.seconds_left)]


def run_line(view: RunView) -> str:
    """One run in a few words."""
    done, loss, ppl, speed, left = _cells(view)
    if view.update == 0 and view.decoded is None:
        return f"{view.queued.name}: starting"
    parts = {"loss {}": loss, "valid ppl {}": ppl, "{} tokens/s": speed, "{} left": left}
    known = [form.format(value) for form, value in parts.items() if value != "-"]
    return ", ".join([f"{view.queued.name}: {done}", *known])


def total_line(board: Board) -> str:
    """Counts over all runs and the time left."""
    parts = [f"{len(board.ended)} of {board.total} done", f"{len(board.running)} running"]
    if board.waiting:
        parts.append(f"{len(board.waiting)} waiting")
    if board.held:
        parts.append(f"{len(board.held)} in another process")
    left = board.seconds_left()
    return ", ".join(parts) + ("" if left is None else f"; about {short_time(left)} left")


def ended_line(ended: Ended) -> str:
    """How one run ended."""
    after = f" after {short_time(ended.seconds)}" if ended.seconds else ""
    cause = f": {ended.cause}" if ended.cause else ""
    log = f" (see {display(ended.job.folder / 'log.txt')})" if ended.state == "crashed" else ""
    return f"{ended.queued.name}: {ended.state}{after}{cause}{log}"
