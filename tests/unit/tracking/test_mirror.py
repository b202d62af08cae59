"""A mirror follows the ledger with one thread, and a tracker that fails is said once and harms nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ablatable.record.events import EventWriter
from ablatable.tracking.curves import Point
from ablatable.tracking.mirror import Mirror
from ablatable.tracking.tracker import Final


class Board:
    """A tracker that keeps what it is told and fails where asked."""

    def __init__(self, name: str = "board", fails: str | None = None) -> None:
        self.name = name
        self.fails = fails
        self.points: list[Point] = []
        self.calls: list[str] = []
        self.threads: set[str] = set()

    def _called(self, what: str) -> None:
        self.calls.append(what)
        self.threads.add(threading.current_thread().name)
        if what == self.fails:
            raise OSError("out of paint")

    def open(self) -> None:
        self._called("open")

    def log(self, points: Sequence[Point]) -> None:
        self._called("log")
        self.points += points

    def close(self, final: Final | None) -> None:
        self._called("close")


def write(path: Path, *updates: int) -> None:
    with EventWriter(path) as events:
        for update in updates:
            events.write("train", update=update, loss=1.0)


def test_points_come_while_the_run_goes_on_and_the_rest_at_its_end(tmp_path: Path) -> None:
    board, ledger = Board(), tmp_path / "events.jsonl"
    with Mirror(ledger, [board]):
        write(ledger, 1, 2)
        deadline = time.monotonic() + 30
        while len(board.points) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [point.update for point in board.points] == [1, 2]
        write(ledger, 3)
    assert [point.update for point in board.points] == [1, 2, 3]
    assert board.calls[0] == "open"
    assert board.calls[-1] == "close"
    assert board.threads == {"mirror"}


@pytest.mark.parametrize("fails", ["open", "log", "close"])
def test_a_tracker_that_fails_is_said_once_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fails: str
) -> None:
    broken, well, ledger = Board("broken", fails), Board(), tmp_path / "events.jsonl"
    with Mirror(ledger, [broken, well]):
        write(ledger, 1)
        time.sleep(1)
        write(ledger, 2)
    said = capsys.readouterr().err.splitlines()
    assert said == ["broken shows this run only in part: OSError: out of paint"]
    assert [point.update for point in well.points] == [1, 2]
    assert well.calls[-1] == "close"
    assert broken.calls.count(fails) == 1


def test_a_damaged_ledger_is_said_once_and_the_run_is_ended_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board, ledger = Board(), tmp_path / "events.jsonl"
    ledger.write_text('{"kind": "start"}\nnonsense\n')
    with Mirror(ledger, [board]):
        time.sleep(1)
    (line,) = capsys.readouterr().err.splitlines()
    assert "board shows this run only in part" in line
    assert "line 2, is not an event" in line
    assert board.calls == ["open", "close"]


def test_a_summary_that_fails_is_said_and_the_tracker_still_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def summary() -> Final:
        raise ValueError("no picture")

    board = Board()
    with Mirror(tmp_path / "events.jsonl", [board]) as mirror:
        mirror.summarise(summary)
    assert "ValueError: no picture" in capsys.readouterr().err
    assert board.calls == ["open", "close"]


def test_without_trackers_there_is_no_thread_and_nothing_is_asked(tmp_path: Path) -> None:
    before = threading.active_count()
    with Mirror(tmp_path / "events.jsonl", []) as mirror:
        assert threading.active_count() == before
        mirror.summarise(lambda: pytest.fail("asked"))
