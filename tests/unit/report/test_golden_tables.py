"""The four formats of one table, byte for byte.

To accept a change: `ABLATABLE_GOLDEN=write pytest <this file>`, then read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from table_bench import Bench

from ablatable.report.model import Table
from ablatable.report.render import FORMATS, files
from ablatable.study.schema import Group

GOLDEN = Path(__file__).parents[2] / "golden"


def _table() -> Table:
    bench = Bench(title="Variations on a tiny Transformer")
    bench.groups = (Group("A", "(A)"), Group("B", "(B)"))
    bench.row(
        "base",
        {1: 20.25, 2: 20.35, 3: 20.9},
        {1: 9.1, 2: 9.0, 3: 8.9},
        reported={"bleu": 25.8, "ppl": 4.92, "params": 65},
    )
    bench.row(
        "h=1",
        {1: 19.0, 2: 19.2, 3: 19.8},
        {1: 9.9, 2: 9.7, 3: 9.8},
        model={"heads": 1},
        group="A",
        reported={"bleu": 24.9, "ppl": 5.29},
    )
    bench.row(
        "h=16",
        {1: 20.2, 2: 20.6, 3: 20.7},
        {1: 9.1, 2: 8.9, 3: 9.0},
        model={"heads": 16},
        group="A",
        reported={"bleu": 25.8, "ppl": 4.91},
    )
    bench.row(
        "h=32",
        {1: 20.0},
        {1: 9.2},
        model={"heads": 32},
        failed={3: "non-finite loss at update 120"},
        group="A",
        reported={"bleu": 25.4, "ppl": 5.01},
    )
    bench.row(
        "P_drop=0.0",
        {1: 21.0, 2: 21.3, 3: 21.9},
        {1: 9.5, 2: 9.4, 3: 9.6},
        model={"dropout": 0.0},
        group="B",
        reported={"bleu": 24.6, "ppl": 5.77},
    )
    bench.row(
        "P_drop=0.2",
        model={"dropout": 0.2},
        pruned=dict.fromkeys((1, 2, 3), "worse than the median"),
        group="B",
        reported={"bleu": 25.5, "ppl": 4.95},
    )
    bench.row(
        "big",
        model={"heads": 16, "dropout": 0.3},
        note="needs more memory than this machine has",
        reported={"bleu": 26.4, "ppl": 4.33, "params": 213},
    )
    return bench.table()


@pytest.mark.parametrize("name", [f"table.{ending}" for ending in FORMATS])
def test_golden(name: str) -> None:
    made = files(_table())[name]
    path = GOLDEN / name
    if os.environ.get("ABLATABLE_GOLDEN") == "write":
        path.write_text(made, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made
