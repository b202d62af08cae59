"""Whether the best of a search lies at an end of what was tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sweep_files import MakeSweep
from test_sweep_best import GRID, finished

from ablatable.record.store import Store
from ablatable.study.sweep import status
from ablatable.study.sweep.ends import at_an_end

FACTOR = "train.learning_rate_factor"


def said(path: str, best: Any, *others: Any) -> list[str]:
    return [str(end) for end in at_an_end({path: best}, [{path: value} for value in (best, *others)])]


@pytest.mark.parametrize(
    ("path", "best", "others", "sentence"),
    [
        (FACTOR, 2.0, (0.5, 1.0), f"{FACTOR}=2 is the highest of 3 tried: a higher one may be better"),
        (FACTOR, 0.5, (2.0, 1.0, 1.0), f"{FACTOR}=0.5 is the lowest of 3 tried: a lower one may be better"),
        (FACTOR, 1.0, (0.5, 2.0), None),
        (FACTOR, 2.0, (1.0,), None),  # of two values each is at an end
        ("model.dropout", 0.0, (0.1, 0.2), None),  # there is no less
        ("model.dropout", 0.2, (0.1, 0.0), "model.dropout=0.2 is the highest of 3 tried: a higher one may be better"),
        ("model.layers", 1, (2, 3), None),
        ("model.layers", 3, (2, 1), "model.layers=3 is the highest of 3 tried: a higher one may be better"),
        ("model.norm", "rms", ("layer", "scale"), None),
        ("data.subword_sampling", None, (0.1, 0.2, 0.3), None),
    ],
)
def test_a_best_without_a_neighbour_is_told(
    path: str, best: Any, others: tuple[Any, ...], sentence: str | None
) -> None:
    assert said(path, best, *others) == ([] if sentence is None else [sentence])


def test_what_failed_beyond_the_best_brackets_it(sweep: MakeSweep, tmp_path: Path) -> None:
    plan, store = sweep(**GRID), Store(tmp_path / "runs")  # 1, 2, 4, 8 and 16 heads
    trials = finished(plan, [[5.0], [4.0], [3.0], [2.0]])
    assert status.to_json(trials, plan.sweep, store)["best_at_an_end"] == [
        {"path": "model.heads", "value": 8, "end": "highest", "tried": 4}
    ]
    assert "\n  model.heads=8 is the highest of 4 tried: a higher one may be better" in status.to_text(
        trials, plan.sweep, store
    )
    trials = finished(plan, [None])
    told = status.to_json(trials, plan.sweep, store)
    assert told["best_at_an_end"] == []
    json.dumps(told)


def test_of_several_objectives_nothing_is_said(sweep: MakeSweep) -> None:
    plan = sweep(**{**GRID, "objectives": [{"metric": "flops"}, {"metric": "bleu"}]})
    assert status.ends(finished(plan, [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), plan.sweep) == []
