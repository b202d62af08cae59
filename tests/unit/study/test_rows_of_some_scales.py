"""Rows that exist at some scales only, values that no scale touches, and published values in the wrong unit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.locate import runs_folder
from ablatable.errors import InputError
from ablatable.record.store import Store
from ablatable.report import make, render
from ablatable.study.load import load_study
from ablatable.study.resolve import resolve

Invoke = Callable[..., str]


def edit(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for right, wrong in pairs:
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def partial(tiny: Path) -> Path:
    """The row of two layers exists at cpu and paper only: a third of two is no number of layers."""
    edit(tiny, ("{model.layers: 2}", "{model.layers: 2}\n    scales: [cpu, paper]\n    reported: {ppl: 6.11}"))
    return tiny


def resolved(scale: str) -> Any:
    return {row.row.name: row.experiments[0] for row in resolve(load_study("tiny"), scale, 1, lambda _: None)}


def test_a_row_exists_at_the_scales_it_names(partial: Path) -> None:
    assert list(resolved("cpu")) == ["base", "h=1", "N=2"]
    assert list(resolved("demo")) == ["base", "h=1"]
    assert [row.name for row in load_study("tiny").absent("demo")] == ["N=2"]


def test_elsewhere_it_is_a_hole_with_its_cause_wherever_the_table_is_shown(
    partial: Path, invoke: Invoke, make_record: Any
) -> None:
    cause = "no such row at scale demo, only at cpu and paper"
    plan = json.loads(invoke("plan", "tiny", "--scale", "demo", "--format", "json"))
    assert plan["absent"] == [{"row": "N=2", "cause": cause}]
    assert [row["row"] for row in plan["rows"]] == ["base", "h=1"]
    assert f"hole: N=2: {cause}" in invoke("plan", "tiny", "--scale", "demo")
    assert json.loads(invoke("status", "tiny", "--scale", "demo", "--format", "json"))["absent"] == plan["absent"]
    assert f"hole: N=2: {cause}" in invoke("status", "tiny", "--scale", "demo")
    store = Store(runs_folder())
    for row in resolve(load_study("tiny"), "demo", 1, lambda _: "e9e6c514a28a6620"):
        store.write_record(make_record(row.experiments[0], "e9e6c514a28a6620"))
    table = make.table_of("tiny", "demo", None)
    row = table.rows[2]
    assert (row.name, row.done, row.planned, row.ids) == ("N=2", 0, 0, ())
    assert [(cell.hole, cell.paper) for cell in row.cells] == [("absent", 6.11), ("absent", None)]
    assert dict(table.notes)[row.markers[0]] == cause
    markdown = render.RENDERERS["md"](table)
    assert cause in markdown
    assert "absent" in next(line for line in markdown.splitlines() if line.startswith("| ") and "N=2" in line)
    assert all(form(table) for form in render.RENDERERS.values())
    assert f"hole: N=2: {cause}" in invoke("publish", "tiny", "--scale", "demo")


def test_a_scale_that_does_not_divide_names_the_key_as_a_remedy(tiny: Path) -> None:
    with pytest.raises(
        InputError,
        match=r"tiny.yaml:17: model.layers=2 times 1/3 .* leave row 'N=2' out at this scale by its key 'scales'",
    ):
        resolved("demo")


def test_heads_that_divide_no_more_name_it_too(tiny: Path) -> None:
    """512 / 128 is 4 channels a head; a quarter of the width has 1, and 256 heads are more than it has channels."""
    edit(tiny, ("{model.heads: 1}", "{model.heads: 256}"))
    with pytest.raises(InputError, match=r"does not divide model.d_model=128.* leave row 'h=1' out at this scale"):
        resolved("cpu")


def test_a_row_that_is_impossible_anywhere_does_not_name_it(tiny: Path) -> None:
    edit(tiny, ("{model.heads: 1}", "{model.heads: 3}"))
    with pytest.raises(InputError) as caught:
        resolved("cpu")
    assert "scales" not in str(caught.value)


def test_fixed_values_are_the_same_at_every_scale(partial: Path) -> None:
    edit(partial, ("set: {model.heads: 1}", "fixed: {decode.beam: 2, model.d_k: 24}"))
    for scale in ("paper", "cpu", "demo"):
        row = resolved(scale)["h=1"]
        assert (row.decode.beam, row.model.d_k) == (2, 24)
    assert [resolved(scale)["base"].decode.beam for scale in ("paper", "cpu")] == [4, 1]


def test_a_row_that_sets_what_a_scale_replaces_is_told_of_fixed(tiny: Path) -> None:
    edit(tiny, ("{model.heads: 1}", "{decode.beam: 2}"))
    assert resolved("paper")["h=1"].decode.beam == 2
    with pytest.raises(InputError, match=r"tiny.yaml:15: decode.beam is what this row changes.* or 'fixed' in place"):
        resolved("cpu")


def test_what_a_study_fixes_holds_for_all_rows_and_gives_way_to_a_row(tiny: Path) -> None:
    edit(
        tiny,
        ("baseline: base", "baseline: base\nfixed: {data.max_length: 20, train.average_last: 1}"),
        ("set: {model.heads: 1}", "fixed: {data.max_length: 60}"),
    )
    rows = resolved("cpu")
    assert [row.data.max_length for row in rows.values()] == [20, 60, 20]
    assert {row.train.average_last for row in rows.values()} == {1}, "and the scale's average_every is left out"
    assert resolved("paper")["base"].data.max_length == 20


def test_rows_that_are_one_run_at_a_scale_are_told_of_the_key(tiny: Path) -> None:
    edit(tiny, ("set: {model.heads: 1}", "fixed: {decode.beam: 1}"))
    with pytest.raises(InputError, match=r"'base' and 'h=1' are the same run at scale cpu; .* by its key 'scales'"):
        resolved("cpu")
    edit(tiny, ("fixed: {decode.beam: 1}", "fixed: {decode.beam: 1}\n    scales: [paper]"))
    assert list(resolved("cpu")) == ["base", "N=2"]
    assert list(resolved("paper")) == ["base", "h=1", "N=2"]


H1 = "set: {model.heads: 1}"
FAULTS = [
    (H1, "fixed: {model.heads: [1]}", "15: .*a setting is one value"),
    (H1, "fixed: {model.head: 1}", "15: .*did you mean 'model.heads'"),
    (H1, "fixed: {seed: 2}", "15: a row can't set the seed"),
    (H1, f"{H1}\n    fixed: {{model.heads: 1}}", "15: 'model.heads' stands under 'fixed' too"),
    (H1, f"{H1}\n    scales: [cup]", "16: unknown scale 'cup'; did you mean 'cpu'"),
    (H1, f"{H1}\n    scales: cpu", "16: 'rows.1.scales'"),
    ("    reported: {", "    scales: [cpu]\n    reported: {", "12: row 'base' is the baseline, which every scale has"),
    ("baseline: base", "baseline: base\nfixed: {runtime.threads: 2}", "4: 'runtime.threads' says how to run"),
    # Published values: the wrong metric, the wrong unit, a source half said.
    (", digits: 1, better: higher, reported: bleu", ", reported: ppl",
     "7: column 'BLEU' measures bleu and would print reported 'ppl' beside it; write reported: bleu"),
    ("bleu: 25.8", "bleu: 0.258", "12: reported bleu: 0.258 .*BLEU goes from 0 to 100; write 25.8 if"),
    ("bleu: 25.8", "bleu: 258", "12: reported bleu: 258 .*BLEU goes from 0 to 100; write the value"),
    ("ppl: 4.92", "ppl: 0.5", "12: reported ppl: 0.5 .*a perplexity is at least 1; write the value"),
    ("ppl: 4.92", "pll: 4.92", "12: no column shows reported 'pll'; did you mean 'ppl'"),
    (H1, f"{H1}\n    reported_from: someone", "16: row 'h=1' has no 'reported' values"),
    (H1, f"{H1}\n    reported_base: {{bleu: 20}}", "16: say under 'reported_from'"),
    (H1, f"{H1}\n    reported: {{ppl: 5}}\n    reported_from: x\n    reported_base: {{bleu: 20}}",
     "18: row 'h=1' has no reported bleu to compare with it"),
    # Length buckets.
    ("metric: ppl", "metric: ppl, bucket: longer", "6: column 'PPL' is one length bucket, and published values"),
    ("path: model.heads", "path: model.heads, bucket: longer", "5: .*a 'bucket' belongs to a column whose metric"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "message"), FAULTS, ids=[wrong[-40:] for _, wrong, _ in FAULTS])
def test_bad_rows_columns_and_published_values_name_file_line_and_remedy(
    tiny: Path, right: str, wrong: str, message: str
) -> None:
    edit(tiny, (right, wrong))
    with pytest.raises(InputError, match=f"tiny.yaml:{message}") as caught:
        load_study("tiny")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("unit", "given", "right", "message"),
    [
        (1_000_000, "65000000", "65", r"6.5e\+07 .*in units of 1e\+06; write 65 if that is what was published"),
        (1, "65", "65000000", r"65 cannot .*from 10,000 to 1e12 parameters; write 6.5e\+07 if"),
    ],
)
def test_parameters_in_another_unit_than_the_columns(
    tiny: Path, unit: int, given: str, right: str, message: str
) -> None:
    column = f"  - {{label: params (M), metric: parameters, divide_by: {unit}, reported: params}}\n"
    edit(tiny, ("groups:", f"{column}groups:"), ("bleu: 25.8", f"bleu: 25.8, params: {given}"))
    with pytest.raises(InputError, match=rf"tiny.yaml:13: reported params: {message}"):
        load_study("tiny")
    edit(tiny, (f"params: {given}", f"params: {right}"))
    assert load_study("tiny").row("base").reported["params"] == float(right)


def test_a_bucket_that_no_row_has_is_named_with_those_there_are(tiny: Path) -> None:
    edit(tiny, ("metric: ppl, better: lower, reported: ppl", "metric: ppl, bucket: 1-20"))
    edit(tiny, ("ppl: 4.92, ", ""))
    with pytest.raises(
        InputError, match=r"tiny.yaml:6: row 'base' has no length bucket '1-20' \(it has none: evaluate"
    ):
        resolved("paper")
    edit(tiny, ("baseline: base", "baseline: base\nfixed: {evaluate.length_buckets: [20, 40]}"))
    assert resolved("paper")["base"].evaluate.buckets == ("1-20", "21-40", "longer")
    edit(tiny, ("bucket: 1-20", "bucket: 41-60"))
    with pytest.raises(InputError, match=r"'41-60'; did you mean '1-20'\? \(it has 1-20, 21-40, longer\)"):
        resolved("paper")
