"""What stands in a table: samples, holes, notes, bold, differences, footnotes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from table_bench import Bench

from ablatable.record.schema import Metric
from ablatable.report.model import MetricCell, Table
from ablatable.report.render import RENDERERS, files
from ablatable.scoring.perplexity import FUTURE_VISIBLE
from ablatable.study.schema import Group

BLEU = 1


def _bleu(table: Table, row: str) -> MetricCell:
    return next(line for line in table.rows if line.name == row).cells[BLEU]


def _markdown_row(table: Table, name: str) -> str:
    lines = RENDERERS["md"](table).splitlines()
    return next(line for line in lines if f"| {name} " in line)


def test_swp_14_holes_and_partial_rows_stay_visible(bench: Bench) -> None:
    """SWP-14: A has 3 seeds, B 2 of 3 (one diverged), C none: nothing turns into 0 or vanishes."""
    bench.row("A", {1: 27.1, 2: 27.5, 3: 27.9})
    bench.row("B", {1: 26.0, 2: 26.4}, failed={3: "non-finite loss at update 120"})
    bench.row("C")
    table = bench.table()
    assert [(row.done, row.planned) for row in table.rows] == [(3, 3), (2, 3), (0, 3)]
    assert "27.5 ± 0.4" in _markdown_row(table, "A")
    assert "26.2 ± 0.3" in _markdown_row(table, "B")
    assert "2 of 3" in _markdown_row(table, "B")
    assert "missing" in _markdown_row(table, "C")
    assert "0 of 3" in _markdown_row(table, "C")
    assert dict(table.notes) == {"a": "seed 3 failed: non-finite loss at update 120", "b": "not run yet"}
    assert [row.markers for row in table.rows] == [(), ("a",), ("b",)]


def test_swp_13_one_seed_shows_no_spread(bench: Bench) -> None:
    """SWP-13: n = 1 shows no +/- and says n."""
    bench.seeds = 1
    bench.row("A", {1: 27.1}, {1: 9.0})
    assert "±" not in _markdown_row(bench.table(), "A")
    assert _markdown_row(bench.table(), "A").rstrip(" |").endswith(" 1")


def test_swp_04_a_pruned_run_is_a_hole_even_with_values(bench: Bench) -> None:
    """SWP-04: a pruned run carries an intermediate value and must not look like a result."""
    bench.row("A", {1: 20.0, 2: 21.0, 3: 22.0})
    bench.row("B", {1: 99.0, 2: 99.0, 3: 99.0}, pruned={1: "median", 2: "median", 3: "median"})
    cell = _bleu(bench.table(), "B")
    assert (cell.sample, cell.hole, cell.best) == (None, "pruned", False)
    assert _bleu(bench.table(), "A").best is False  # alone in its column, best of nothing


def test_the_worst_hole_is_shown_and_every_cause_noted(bench: Bench) -> None:
    bench.row("A", {1: 20.0})
    bench.row("B", failed={1: "it diverged"}, pruned={2: "slow"})
    table = bench.table()
    assert _bleu(table, "B").hole == "failed"
    texts = [text for _, text in table.notes]
    assert texts == [
        "seeds 2, 3 not run yet",
        "seed 1 failed: it diverged",
        "seed 2 pruned: slow",
        "seed 3 not run yet",
    ]


def test_a_completed_run_without_the_metric_is_not_measured(bench: Bench) -> None:
    bench.row("A", {1: 20.0, 2: 20.0, 3: 20.0}, {1: 9.0, 2: 9.1})
    table = bench.table()
    ppl = table.rows[0].cells[0]
    assert ppl.sample is not None
    assert ppl.sample.n == 2
    assert "(n = 2)" in _markdown_row(table, "A")
    assert ("a", "seed 3 has no valid.ppl in its record") in table.notes
    bench.row("B", {1: 20.0, 2: 20.0, 3: 20.0}, {})
    assert bench.table().rows[1].cells[0].hole == "not measured"


def test_best_is_bold_by_direction_and_ties_share_it(bench: Bench) -> None:
    bench.seeds = 1
    bench.row("A", {1: 20.04}, {1: 9.004})
    bench.row("B", {1: 19.96}, {1: 9.0})
    bench.row("C", {1: 19.9}, {1: 8.0})
    table = bench.table()
    assert [row.cells[1].best for row in table.rows] == [True, True, False]
    assert [row.cells[0].best for row in table.rows] == [False, False, True]
    assert [row.cells[2].best for row in table.rows] == [False, False, False]


def test_the_base_row_comes_first_and_blank_means_base(bench: Bench) -> None:
    bench.row("base", {1: 20.0})
    bench.row("h=4", {1: 20.0}, model={"heads": 4})
    bench.runs.reverse()
    table = bench.table()
    assert [row.name for row in table.rows] == ["base", "h=4"]
    assert table.rows[0].settings == ("8", "0.1")
    assert table.rows[1].settings == ("4", None)
    assert table.rows[1].full_settings == ("4", "0.1")


def test_neighbours_of_a_group_share_a_block(bench: Bench) -> None:
    bench.row("base", {1: 20.0})
    for name, group in (("x", "A"), ("y", "A"), ("z", "B"), ("big", None)):
        bench.row(name, {1: 20.0}, group=group)
    blocks = [(block.label, [row.name for row in block.rows]) for block in bench.table().blocks]
    assert blocks == [("", ["base"]), ("(A)", ["x", "y"]), ("(B)", ["z"]), ("", ["big"])]


def test_differences_are_paired_and_their_sign_is_compared_with_the_papers(bench: Bench) -> None:
    bench.row("base", {1: 20.0, 2: 21.0, 3: 22.0}, reported={"bleu": 25.8})
    bench.row("worse", {1: 19.0, 2: 20.1, 3: 20.9}, reported={"bleu": 24.9})
    bench.row("better", {1: 21.0, 2: 22.1, 3: 22.9}, reported={"bleu": 24.9})
    bench.row("alone", {1: 19.0}, reported={"bleu": 24.9})
    bench.row("unsure", {1: 18.0, 2: 23.0, 3: 19.0}, reported={"bleu": 24.9})
    bench.row("close", {1: 19.0, 2: 20.1, 3: 20.9}, reported={"bleu": 25.5})
    bench.row("unreported", {1: 19.0, 2: 20.1, 3: 20.9})
    table = bench.table()
    verdicts = {row.name: cell.agreement.text if (cell := row.cells[BLEU]).agreement else "" for row in table.rows}
    assert verdicts == {
        "base": "",
        "worse": "same",
        "better": "opposite",
        "alone": "(same)",
        "unsure": "~",
        "close": "~",
        "unreported": "",
    }
    gap = _bleu(table, "worse").difference
    assert gap is not None
    assert gap.value == pytest.approx(-1.0)
    assert "−1.0 [−1.2, −0.8]" in _markdown_row(table, "worse")


def test_perplexity_is_never_ranked_across_tokenizers(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, {1: 9.0})
    bench.row("other-pieces", {1: 21.0}, {1: 5.0}, stamp={"tokenizer_fingerprint": "uuuuuuuuuuuuuuuu"})
    table = bench.table()
    assert [row.cells[0].best for row in table.rows] == [False, False]
    assert table.rows[1].cells[0].difference is None
    assert [row.cells[1].best for row in table.rows] == [False, True]
    assert any(note.startswith("PPL (dev): these rows do not share corpus and tokenizer") for note in table.footnotes)


def test_a_perplexity_that_saw_the_future_is_marked_and_never_best(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, {1: 9.0})
    bench.row("no-mask", {1: 3.0}, {1: 1.1}, model={"causal": False})
    leak = Metric(1.1, "perplexity/token", FUTURE_VISIBLE)
    bench.records[1] = replace(bench.records[1], metrics=bench.records[1].metrics | {"valid.ppl": leak})
    table = bench.table()
    assert [row.cells[0].best for row in table.rows] == [False, False]
    assert table.rows[1].cells[0].difference is None
    assert [row.cells[BLEU].best for row in table.rows] == [True, False]
    (note,) = [note for note in table.footnotes if FUTURE_VISIBLE in note]
    assert note.startswith("no-mask: likelihood")


@pytest.mark.parametrize("stamp", [{"bleu_signature": "tok:intl"}, {"corpus_fingerprint": "dddddddddddddddd"}])
def test_bleu_is_never_ranked_across_signatures_or_corpora(bench: Bench, stamp: dict[str, str]) -> None:
    bench.row("base", {1: 20.0})
    bench.row("other", {1: 21.0}, stamp=stamp)
    table = bench.table()
    assert [row.cells[BLEU].best for row in table.rows] == [False, False]
    assert _bleu(table, "other").difference is None
    assert any(note.startswith("BLEU (dev): these rows were not scored") for note in table.footnotes)


def test_footnotes_name_conventions_and_provenance(bench: Bench) -> None:
    bench.row("base", {1: 20.0, 2: 20.5}, {1: 9.0, 2: 9.1}, reported={"bleu": 25.8})
    bench.row("h=4", {1: 20.0}, {1: 9.0}, stamp={"code_digest": "ffff", "git_dirty_digest": "eeee"})
    text = "\n".join(bench.table().footnotes)
    for expected in (
        "completed runs of 3 planned",
        "27.25 is shown as 27.2",
        "unsmoothed",
        "a/K over all K classes",
        "tok:13a",
        "((5 + |Y|) / 6)^0.6 where |Y| counts the end mark",
        "0.3 BLEU",
        "cccccccccccccccc",
        "00aa11bb22cc33dd (2 runs); ffff (1 runs)",
        "different versions of the code",
        "0123456789ab with local changes eeee",
        "a processor, 2 cores, 8 GiB",
        "torch 2.13.0",
        "nothing is changed from experiments/base",
    ):
        assert expected in text


def test_a_table_without_any_record_is_all_holes(bench: Bench) -> None:
    bench.row("base", reported={"bleu": 25.8})
    bench.row("h=4")
    table = bench.table()
    assert {cell.hole for row in table.rows for cell in row.cells} == {"missing"}
    assert "No run has completed yet." in table.footnotes
    assert all(files(table).values())


def test_records_of_other_runs_and_their_order_change_nothing() -> None:
    tables = []
    for extra in (False, True):
        bench = Bench()
        bench.row("base", {1: 20.0, 2: 21.0})
        bench.row("h=4", {2: 20.0, 3: 19.0})
        if extra:
            bench.records.append(replace(bench.records[0], id="f" * 16))
            bench.records.reverse()
        tables.append(files(bench.table()))
    assert tables[0] == tables[1]


def test_two_builds_are_byte_identical() -> None:
    """SWP-14: regenerating twice gives byte-identical files."""

    def build() -> dict[str, str]:
        bench = Bench()
        bench.groups = (Group("A", "(A)"),)
        bench.row("base", {1: 20.0, 2: 21.0, 3: 22.0})
        bench.row("h=4", {1: 20.0}, failed={2: "it diverged"}, group="A", note="a note")
        return files(bench.table(), ("md", "tex", "csv", "html", "json"))

    assert build() == build()
