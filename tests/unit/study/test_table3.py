"""The paper's Table 3, value by value, and its exact parameter counts under both conventions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ablatable.study.load import load_study
from ablatable.study.plan import changes
from ablatable.study.resolve import resolve

# Row: group, perplexity, BLEU and parameters (millions) as printed; None where the paper prints nothing.
PUBLISHED: dict[str, tuple[str | None, float, float, int | None]] = {
    "base": (None, 4.92, 25.8, 65),
    "h=1": ("A", 5.29, 24.9, None),
    "h=4": ("A", 5.00, 25.5, None),
    "h=16": ("A", 4.91, 25.8, None),
    "h=32": ("A", 5.01, 25.4, None),
    "d_k=16": ("B", 5.16, 25.1, 58),
    "d_k=32": ("B", 5.01, 25.4, 60),
    "N=2": ("C", 6.11, 23.7, 36),
    "N=4": ("C", 5.19, 25.3, 50),
    "N=8": ("C", 4.88, 25.5, 80),
    "d_model=256": ("C", 5.75, 24.5, 28),
    "d_model=1024": ("C", 4.66, 26.0, 168),
    "d_ff=1024": ("C", 5.12, 25.4, 53),
    "d_ff=4096": ("C", 4.75, 26.2, 90),
    "P_drop=0.0": ("D", 5.77, 24.6, None),
    "P_drop=0.2": ("D", 4.95, 25.5, None),
    "eps_ls=0.0": ("D", 4.67, 25.3, None),
    "eps_ls=0.2": ("D", 5.47, 25.7, None),
    "learned-positions": ("E", 4.92, 25.7, None),
    "big": (None, 4.33, 26.4, 213),
}

# N, d_model, d_ff, h, d_k, d_v, P_drop, eps_ls, updates: the paper's columns, blanks filled in.
BASE = (6, 512, 2048, 8, 64, 64, 0.1, 0.1, 100_000)
SETTINGS: dict[str, dict[int, float]] = {
    "base": {},
    "h=1": {3: 1, 4: 512, 5: 512},
    "h=4": {3: 4, 4: 128, 5: 128},
    "h=16": {3: 16, 4: 32, 5: 32},
    "h=32": {3: 32, 4: 16, 5: 16},
    "d_k=16": {4: 16},
    "d_k=32": {4: 32},
    "N=2": {0: 2},
    "N=4": {0: 4},
    "N=8": {0: 8},
    "d_model=256": {1: 256, 4: 32, 5: 32},
    "d_model=1024": {1: 1024, 4: 128, 5: 128},
    "d_ff=1024": {2: 1024},
    "d_ff=4096": {2: 4096},
    "P_drop=0.0": {6: 0.0},
    "P_drop=0.2": {6: 0.2},
    "eps_ls=0.0": {7: 0.0},
    "eps_ls=0.2": {7: 0.2},
    "learned-positions": {},
    "big": {1: 1024, 2: 4096, 3: 16, 6: 0.3, 8: 300_000},
}

# Vocabulary 37,000; and 40,960 with the first public code's 32 x d_model table of target languages.
PARAMETERS_TEXT = {
    "base": 63082496, "d_k=16": 55990784, "d_k=32": 58354688,
    "N=2": 33656832, "N=4": 48369664, "N=8": 77795328,
    "d_model=256": 26834944, "d_model=1024": 163889152, "d_ff=1024": 50487296, "d_ff=4096": 88272896,
    "big": 214245376,
}  # fmt: skip
PARAMETERS_T2T = {
    "base": 65126400, "d_k=16": 58034688, "d_k=32": 60398592,
    "N=2": 35700736, "N=4": 50413568, "N=8": 79839232,
    "d_model=256": 27856896, "d_model=1024": 167976960, "d_ff=1024": 52531200, "d_ff=4096": 90316800,
    "big": 218333184,
}  # fmt: skip
SAME_SIZE_AS_BASE = ("h=1", "h=4", "h=16", "h=32", "P_drop=0.0", "P_drop=0.2", "eps_ls=0.0", "eps_ls=0.2")


def test_rows_groups_and_published_values_are_the_papers() -> None:
    rows = load_study("table3").rows
    assert len(rows) == 20
    assert {
        row.name: (row.group, row.reported["ppl"], row.reported["bleu"], row.reported.get("params")) for row in rows
    } == PUBLISHED
    assert [row.name for row in rows] == list(PUBLISHED)


def test_columns_and_groups_are_the_papers() -> None:
    study = load_study("table3")
    assert [column.label for column in study.columns] == [
        "N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "eps_ls", "train steps",
        "PPL (dev)", "BLEU (dev)", "params (M)",
    ]  # fmt: skip
    assert [group.label for group in study.groups] == ["(A)", "(B)", "(C)", "(D)", "(E)"]
    assert study.split == "valid"
    assert study.source is not None
    assert "1706.03762" in study.source


def test_settings_are_the_papers() -> None:
    rows = resolve(load_study("table3"), "paper", 1, lambda _: None)
    for row in rows:
        e = row.experiments[0]
        m = e.model
        got = (m.layers, m.d_model, m.d_ff, m.heads, m.key_size, m.value_size)
        got += (m.dropout, e.train.label_smoothing, e.train.updates)
        wanted = tuple(SETTINGS[row.row.name].get(i, value) for i, value in enumerate(BASE))
        assert got == wanted, row.row.name
    learned = next(row for row in rows if row.row.name == "learned-positions")
    assert changes(rows[0].experiments[0], learned.experiments[0]) == {"model.position": "learned"}


Plan = Callable[..., dict[str, Any]]


@pytest.fixture
def plan_json(invoke: Callable[..., str]) -> Plan:
    return lambda *words: json.loads(invoke("plan", "table3", "--format", "json", *words))


@pytest.mark.parametrize(
    ("words", "vocabulary", "exact"),
    [((), 37_000, PARAMETERS_TEXT), (("--experiment", "t2t-2017-base"), 40_960, PARAMETERS_T2T)],
    ids=["the text", "the first public code"],
)
def test_plan_gives_the_exact_parameter_counts(
    plan_json: Plan, words: tuple[str, ...], vocabulary: int, exact: dict[str, int]
) -> None:
    plan = plan_json("--scale", "paper", *words)
    assert plan["vocabulary"] == vocabulary
    counts = {row["row"]: row["parameters"] for row in plan["rows"]}
    assert len(counts) == plan["totals"]["distinct_runs"] == 20
    assert {name: counts[name] for name in exact} == exact
    assert {counts[name] for name in SAME_SIZE_AS_BASE} == {exact["base"]}
    assert counts["learned-positions"] == exact["base"] + 2 * 512 * 512


def test_the_first_public_code_matches_ten_of_the_eleven_printed_counts() -> None:
    printed = {name: params for name, (_, _, _, params) in PUBLISHED.items() if params is not None}
    assert len(printed) == 11
    assert [name for name, params in printed.items() if round(PARAMETERS_T2T[name] / 1e6) != params] == ["big"]


def test_the_base_rows_flops_are_those_of_matrix_products(plan_json: Plan) -> None:
    """The paper's 3.3e18 credits 8 P100 with 9.5 TFLOP/s for 12 hours: capacity, not arithmetic done.
    The usual 6 x parameters x target tokens (each stack sees its own side) gives 9.5e17."""
    base = plan_json("--scale", "paper")["rows"][0]
    assert base["source_tokens"] == base["target_tokens"] == 100_000 * 25_000
    assert base["flops"] == pytest.approx(6 * 63_082_496 * 2.5e9, rel=0.05)
