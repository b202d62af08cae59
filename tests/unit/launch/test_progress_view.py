from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from ablatable.launch.outcome import Ended, Queued
from ablatable.launch.progress import Lines, Screen, ended_line, run_line, screen, total_line
from ablatable.launch.view import Board, RunView, Tail, makespan, short_time
from ablatable.record.events import EventWriter

sys.path.insert(0, str(Path(__file__).parent))
from launch_targets import make_queued


def training(view: RunView, first: int, last: int, seconds_each: float = 0.5, tokens_each: int = 1000) -> None:
    for update in range(first, last + 1):
        view.apply(
            {
                "kind": "train",
                "time": view.began + update * seconds_each,
                "update": update,
                "updates": 100,
                "loss": 5.0 - update / 100,
                "source_tokens": update * tokens_each,
                "target_tokens": update * tokens_each,
            }
        )


@pytest.fixture
def queued(tmp_path: Path) -> Queued:
    return make_queued(tmp_path / "runs", "base", cost=100.0)


def test_tail_reads_each_whole_line_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    tail = Tail(path)
    assert tail.new_events() == []
    path.write_bytes(b'{"kind": "start"}\n{"kind": "tr')
    assert tail.new_events() == [{"kind": "start"}]
    assert tail.new_events() == []
    with path.open("ab") as file:
        file.write(b'ain"}\nrubbish\n[1]\n')
    assert tail.new_events() == [{"kind": "train"}]


def test_tail_survives_a_resumed_run_that_drops_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"kind": "start"}\n{"torn')
    tail = Tail(path)
    assert len(tail.new_events()) == 1
    with EventWriter(path) as events:
        events.write("resume", update=3)
    assert [event["kind"] for event in tail.new_events()] == ["resume"]


def test_speed_and_time_left_come_from_the_latest_events(queued: Queued) -> None:
    view = RunView(queued)
    assert (view.tokens_per_second, view.seconds_left) == (None, None)
    training(view, 1, 20)
    assert view.update == 20
    assert view.share == pytest.approx(0.2)
    assert view.tokens_per_second == pytest.approx(4000.0)
    assert view.seconds_left == pytest.approx(40.0)
    assert run_line(view) == "base, seed 1: 20/100, loss 4.800, 4,000 tokens/s, 40 s left"
    view.apply({"kind": "valid", "update": 20, "nll": 1.0, "ppl": 2.718})
    assert "valid ppl 2.72" in run_line(view)
    view.apply({"kind": "decode", "done": 3, "total": 9})
    assert run_line(view) == "base, seed 1: decoding 3/9, loss 4.800, valid ppl 2.72"


def test_an_earlier_attempt_does_not_count_for_the_speed(queued: Queued) -> None:
    view = RunView(queued)
    view.apply({"kind": "train", "time": view.began - 900, "update": 40, "updates": 100, "loss": 4.0})
    view.apply({"kind": "resume", "time": view.began + 1, "update": 30})
    assert (view.update, view.seconds_left) == (30, None)
    training(view, 31, 40)
    assert view.seconds_left == pytest.approx(30.0)


def test_a_loss_that_is_not_finite_is_shown_as_such(queued: Queued) -> None:
    view = RunView(queued)
    view.apply({"kind": "train", "time": view.began, "update": 3, "updates": 9, "loss": None})
    assert "loss nan" in run_line(view)


@pytest.mark.parametrize(
    ("running", "waiting", "slots", "seconds"),
    [
        ([], [], 2, 0.0),
        ([5.0], [], 2, 5.0),
        ([5.0, 1.0], [3.0, 3.0], 2, 7.0),
        ([], [4.0, 3.0, 2.0], 2, 5.0),
        ([9.0], [1.0], 1, 10.0),
    ],
)
def test_makespan(running: list[float], waiting: list[float], slots: int, seconds: float) -> None:
    assert makespan(running, waiting, slots) == seconds


def test_the_total_s_time_left_scales_with_cost(tmp_path: Path) -> None:
    jobs = [make_queued(tmp_path, name, cost) for name, cost in (("a", 100.0), ("b", 100.0), ("c", 50.0))]
    board = Board()
    board.begin(jobs, 2)
    assert board.seconds_left() is None
    board.started(jobs[0])
    training(board.running[jobs[0].job.id], 1, 20)  # 50 s for all of it
    board.end(Ended(jobs[1], "completed", seconds=50.0))
    assert board.seconds_left() == pytest.approx(40.0)  # a: 40 s more, c: 25 s beside it
    assert total_line(board) == "1 of 3 done, 1 running, 1 waiting; about 40 s left"


def test_plain_lines_for_pipes(queued: Queued) -> None:
    out = io.StringIO()
    lines = Lines(Console(file=out, width=40), heartbeat=0.0)
    lines.begin([queued], 2)
    lines.started(queued)
    with EventWriter(queued.job.folder / "events.jsonl") as events:
        events.write("train", update=3, updates=9, loss=2.5)
    lines.tick()
    lines.ended(Ended(queued, "crashed", "killed by SIGKILL, perhaps out of memory", 75.0))
    lines.close()
    assert out.getvalue().splitlines()[:2] == [
        "1 run to do, 1 at a time",
        "0 of 1 done, 1 running: base, seed 1: 3/9, loss 2.500",
    ]
    assert "base, seed 1: crashed after 75 s: killed by SIGKILL, perhaps out of memory (see " in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_no_heartbeat_before_its_time(queued: Queued) -> None:
    out = io.StringIO()
    lines = Lines(Console(file=out), heartbeat=60.0)
    lines.begin([queued], 1)
    lines.started(queued)
    lines.tick()
    assert len(out.getvalue().splitlines()) == 1


def test_the_terminal_shows_a_table_and_clears_it(queued: Queued) -> None:
    out = io.StringIO()
    view = Screen(Console(file=out, force_terminal=True, width=100))
    view.begin([queued], 1)
    view.started(queued)
    time.sleep(0.6)
    view.tick()
    view.ended(Ended(queued, "completed", seconds=3.0))
    view.close()
    assert "base, seed 1: completed after 3 s" in out.getvalue()
    assert "tokens/s" in out.getvalue()


def test_the_table_has_a_line_for_every_running_run(tmp_path: Path) -> None:
    jobs = [make_queued(tmp_path, name) for name in ("base", "[red]odd[/red]")]
    board = Board()
    board.begin(jobs, 2)
    for job in jobs:
        board.started(job)
    training(board.running[jobs[0].job.id], 1, 20)
    out = io.StringIO()
    Console(file=out, width=120).print(screen(board))
    text = out.getvalue()
    assert "20/100" in text
    assert "4,000" in text
    assert "[red]odd[/red], seed 1" in text


def test_where_the_log_is(queued: Queued) -> None:
    assert ended_line(Ended(queued, "completed", seconds=200.0)) == "base, seed 1: completed after 3 min"
    assert ended_line(Ended(queued, "failed", "the loss is nan")) == "base, seed 1: failed: the loss is nan"
    assert "log.txt" in ended_line(Ended(queued, "crashed", "killed by SIGSEGV"))


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "-"), (0.2, "0 s"), (89, "89 s"), (90, "2 min"), (11100, "3 h 05 min")]
)
def test_short_time(seconds: float | None, text: str) -> None:
    assert short_time(seconds) == text


def test_events_are_json(queued: Queued) -> None:
    """The view reads what the record package writes, byte for byte."""
    with EventWriter(queued.job.folder / "events.jsonl") as events:
        events.write("train", update=1, updates=2, loss=float("nan"), source_tokens=1, target_tokens=2)
    view = RunView(queued, began=0.0)
    view.refresh()
    assert view.update == 1
    assert json.loads((queued.job.folder / "events.jsonl").read_text())["loss"] is None
