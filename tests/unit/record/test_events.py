from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ablatable.errors import InputError
from ablatable.record.events import EventWriter, read_events


def test_events_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    with EventWriter(path) as events:
        events.write("start")
        events.write("train", update=1, loss=2.5)
    assert [event["kind"] for event in read_events(path)] == ["start", "train"]
    assert read_events(path)[1]["loss"] == 2.5
    assert all(event["time"] > 0 for event in read_events(path))


def test_no_file_is_no_events(tmp_path: Path) -> None:
    assert read_events(tmp_path / "events.jsonl") == []


def test_not_finite_is_null(tmp_path: Path) -> None:
    with EventWriter(tmp_path / "e") as events:
        events.write("train", loss=math.nan)
    assert read_events(tmp_path / "e")[0]["loss"] is None


@given(cut=st.integers(min_value=0, max_value=200))
def test_wherever_a_kill_tears_the_last_line_the_rest_is_read_and_a_resume_continues(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("events") / "events.jsonl"
    whole = "".join(json.dumps({"kind": "train", "update": i}) + "\n" for i in range(5)).encode()
    path.write_bytes(whole[:cut])
    kept = read_events(path)
    assert [event["update"] for event in kept] == list(range(whole[:cut].count(b"\n")))
    with EventWriter(path) as events:
        events.write("resume", update=9)
    assert read_events(path)[:-1] == kept
    assert read_events(path)[-1]["update"] == 9


@pytest.mark.parametrize("damage", ["{", "[]", "1", '{"update": 1}', ""])
def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"kind": "start"}\n' + damage + '\n{"kind": "finish"}\n')
    with pytest.raises(InputError, match=r"events\.jsonl, line 2, is not an event"):
        read_events(path)
