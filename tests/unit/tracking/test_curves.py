"""Points from events: their axes, their steps, and what a resumed attempt did again."""

from __future__ import annotations

from typing import Any

from ablatable.tracking.curves import Curves


def train(update: int, tokens: int) -> dict[str, Any]:
    return {
        "kind": "train",
        "update": update,
        "updates": 100,
        "loss": 3.0,
        "nll": 2.0,
        "learning_rate": 0.1,
        "source_tokens": tokens,
        "target_tokens": tokens + 1,
        "seconds": 0.5,
    }


def valid(update: int) -> dict[str, Any]:
    return {"kind": "valid", "update": update, "nll": 2.0, "ppl": None, "accuracy": 0.5}


def test_a_validation_has_the_tokens_of_the_report_before_it() -> None:
    report, check = Curves().take([train(10, 70), valid(10)])
    assert report.axes == check.axes == {"update": 10, "source_tokens": 70, "target_tokens": 71, "seconds": 0.5}
    assert report.values == {"train/loss": 3.0, "train/nll": 2.0, "train/learning_rate": 0.1}
    assert check.values == {"valid/nll": 2.0, "valid/accuracy": 0.5}, "what is not finite is not drawn"


def test_a_validation_without_its_report_has_no_tokens_of_another_update() -> None:
    (_, check) = Curves().take([train(10, 70), valid(11)])
    assert check.axes == {"update": 11}


def test_steps_are_places_in_the_ledger_over_all_calls() -> None:
    curves = Curves()
    first = curves.take([{"kind": "start", "updates": 9}, train(1, 5)])
    second = curves.take(
        [{"kind": "decode", "done": 1, "total": 2}, valid(1), {"kind": "finish", "status": "completed"}]
    )
    assert [point.step for point in [*first, *second]] == [1, 3]
    assert second[0].axes["source_tokens"] == 5


def test_what_was_done_again_after_a_kill_is_there_once() -> None:
    events = [
        {"kind": "start", "updates": 100},
        train(10, 1),
        valid(10),
        train(20, 2),
        {"kind": "resume", "update": 10},
        train(15, 15),
        train(20, 22),
    ]
    points = Curves().take(events)
    assert [(point.update, point.axes["source_tokens"]) for point in points] == [(10, 1), (10, 1), (15, 15), (20, 22)]
    assert [point.step for point in points] == [1, 2, 5, 6]


def test_a_run_begun_anew_leaves_nothing_of_the_failed_one() -> None:
    points = Curves().take([train(10, 1), {"kind": "finish", "status": "failed"}, {"kind": "start"}, train(5, 3)])
    assert [point.update for point in points] == [5]
