"""A ledger read on as it grows: every event once, however the writes and the looks fall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ablatable.errors import InputError
from ablatable.record.events import EventTail, EventWriter, read_events


@given(cuts=st.lists(st.integers(0, 160), max_size=6))
def test_looks_at_any_moments_give_every_event_once(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("tail") / "events.jsonl"
    whole = "".join(json.dumps({"kind": "train", "update": i}) + "\n" for i in range(5)).encode()
    tail = EventTail(path)
    found = tail.read()
    for cut in [*sorted(cuts), len(whole)]:
        path.write_bytes(whole[:cut])
        found += tail.read()
    assert [event["update"] for event in found] == list(range(5))
    assert tail.read() == []


def test_a_torn_end_is_read_once_the_next_attempt_has_replaced_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"kind": "start"}\n{"kind": "tra')
    tail = EventTail(path)
    assert [event["kind"] for event in tail.read()] == ["start"]
    with EventWriter(path) as events:
        events.write("resume", update=3)
    assert [event["kind"] for event in tail.read()] == ["resume"]


def test_a_damaged_line_is_named_by_its_number_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"kind": "start"}\n{"kind": "train"}\n')
    tail = EventTail(path)
    assert len(tail.read()) == 2
    with path.open("a") as file:
        file.write('{"kind": "valid"}\nnonsense\n')
    with pytest.raises(InputError, match=r"events\.jsonl, line 4, is not an event"):
        tail.read()
    with pytest.raises(InputError, match=r"line 4"):
        read_events(path)


def test_a_ledger_that_was_cut_short_is_said(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"kind": "start"}\n{"kind": "train"}\n')
    tail = EventTail(path)
    tail.read()
    path.write_text('{"kind": "start"}\n')
    with pytest.raises(InputError, match="was cut short while it was followed"):
        tail.read()
