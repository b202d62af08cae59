"""Likelihoods per piece are never ranked across tokenizers; those per character are, where all of the text is there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from table_bench import COLUMNS, Bench

from ablatable.report.model import MetricCell, Table
from ablatable.report.render import files
from ablatable.study.schema import Column

PPL = COLUMNS[2]
BPC = Column("bits/char", metric="bpc", digits=2, better="lower")
NLL = Column("NLL", metric="nll", digits=2, better="lower")
OTHER = {"tokenizer_fingerprint": "uuuuuuuuuuuuuuuu"}
WORDS = {"tokenizer_fingerprint": "wwwwwwwwwwwwwwww"}


def scores(nll: float, bpc: float, unknown: float = 0.0) -> dict[str, float]:
    return {"valid.nll": nll, "valid.bpc": bpc, "valid.oov_target": unknown, "valid.oov_source": unknown}


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.columns = (PPL, NLL, BPC)
    return bench


def cells(table: Table, column: int) -> dict[str, MetricCell]:
    return {row.name: row.cells[column] for row in table.rows}


def best(table: Table, column: int) -> list[str]:
    return [name for name, cell in cells(table, column).items() if cell.best]


def test_across_tokenizers_bits_per_character_rank_and_nothing_per_piece_does(bench: Bench) -> None:
    seeds = {1: 20.0, 2: 20.5}
    bench.row("base", seeds, {1: 9.0, 2: 9.1}, scores=scores(2.2, 1.5), reported={"ppl": 4.92})
    bench.row("other", seeds, {1: 5.0, 2: 5.1}, scores=scores(1.6, 1.8), stamp=OTHER, reported={"ppl": 5.29})
    table = bench.table()
    for per_piece in (0, 1):
        assert best(table, per_piece) == []
        assert cells(table, per_piece)["other"].difference is None
        assert cells(table, per_piece)["other"].agreement is None
    assert best(table, 2) == ["base"]
    gap = cells(table, 2)["other"].difference
    assert gap is not None
    assert gap.value == pytest.approx(0.3)
    for label in ("PPL (dev)", "NLL"):
        (note,) = (note for note in table.footnotes if note.startswith(f"{label}: these rows do not share"))
        assert "says nothing across tokenizers" in note
        assert note.endswith("Rank these rows by bits/char.")
    assert not any(note.startswith("bits/char:") for note in table.footnotes)
    assert any(note.startswith("Bits per character: unsmoothed") for note in table.footnotes)


def test_every_format_shows_no_bold_and_no_difference_for_perplexity(bench: Bench) -> None:
    bench.columns = (PPL,)
    bench.row("base", {1: 20.0}, {1: 9.0}, scores=scores(2.2, 1.5))
    bench.row("other", {1: 20.0}, {1: 5.0}, scores=scores(1.6, 1.8), stamp=OTHER)
    made = files(bench.table())
    assert "**5.00**" not in made["table.md"]
    assert "\\textbf{5.00}" not in made["table.tex"]
    assert "−4.00" not in made["table.md"] + made["table.tex"] + made["table.html"]
    assert "no,,,,,," in made["table.csv"]


def test_without_a_column_of_bits_the_footnote_names_it(bench: Bench) -> None:
    bench.columns = (PPL,)
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5))
    bench.row("other", {1: 20.0}, scores=scores(1.6, 1.8), stamp=OTHER)
    assert any("give the table a column `metric: bpc`" in note for note in bench.table().footnotes)


def test_rows_of_one_tokenizer_rank_by_perplexity_as_ever(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, {1: 9.0}, scores=scores(2.2, 1.5, unknown=0.2))
    bench.row("h=4", {1: 20.0}, {1: 5.0}, scores=scores(1.6, 1.1, unknown=0.2))
    table = bench.table()
    assert [best(table, column) for column in range(3)] == [["h=4"]] * 3
    assert not any("tokenizer" in note and "share" in note for note in table.footnotes)


def test_a_vocabulary_that_hides_text_is_not_ranked_by_bits_with_others(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5))
    bench.row("other", {1: 20.0}, scores=scores(1.6, 1.4, unknown=0.001), stamp=OTHER)
    bench.row("words", {1: 20.0}, scores=scores(3.0, 0.9, unknown=0.12), stamp=WORDS)
    table = bench.table()
    assert best(table, 2) == ["other"]
    assert cells(table, 2)["words"].difference is None
    assert cells(table, 2)["other"].difference is not None
    (note,) = (note for note in table.footnotes if note.startswith("bits/char:"))
    assert "words (12.0 %)" in note
    assert "other" not in note.replace("the others", "")


def _notes(table: Table, label: str) -> str:
    return " ".join(note for note in table.footnotes if note.startswith(f"{label}:"))


def test_nothing_is_recommended_where_no_two_rows_can_be_ranked_by_it(bench: Bench) -> None:
    """Two vocabularies that both hide text: perplexity cannot rank them, and bits per character cannot either."""
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5, unknown=0.2), stamp=WORDS)
    bench.row("other", {1: 20.0}, scores=scores(1.6, 1.4, unknown=0.1), stamp=OTHER)
    table = bench.table()
    assert best(table, 0) == best(table, 2) == []
    assert "Rank" not in _notes(table, "PPL (dev)")
    assert _notes(table, "bits/char").endswith("what an unknown piece hides costs nothing; no row is ranked.")


def test_one_row_that_shows_all_its_text_is_not_ranked_alone(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5))
    bench.row("other", {1: 20.0}, scores=scores(1.6, 1.4, unknown=0.1), stamp=OTHER)
    assert "Rank" not in _notes(bench.table(), "PPL (dev)")


def test_only_the_rows_that_show_all_their_text_are_recommended_to_be_ranked(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5))
    bench.row("other", {1: 20.0}, scores=scores(1.6, 1.4), stamp=OTHER)
    bench.row("words", {1: 20.0}, scores=scores(3.0, 0.9, unknown=0.12), stamp=WORDS)
    assert _notes(bench.table(), "PPL (dev)").endswith("Rank by bits/char the rows that hide no text.")


def test_bits_that_were_not_measured_are_not_recommended(bench: Bench) -> None:
    bench.columns = (PPL,)
    bench.row("base", {1: 20.0})
    bench.row("other", {1: 20.0}, stamp=OTHER)
    assert _notes(bench.table(), "PPL (dev)").endswith("a base row measured otherwise.")


def test_a_row_without_the_value_does_not_keep_the_others_from_being_ranked(bench: Bench) -> None:
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5))
    bench.row("h=4", {1: 20.0}, scores=scores(2.1, 1.4))
    bench.row("old", {1: 20.0}, stamp=OTHER)
    table = bench.table()
    assert best(table, 2) == ["h=4"]
    assert not _notes(table, "bits/char")


@pytest.mark.parametrize("different", ["corpus", "normalisation"])
def test_bits_of_other_text_are_not_ranked(bench: Bench, different: str) -> None:
    bench.row("base", {1: 20.0}, scores=scores(2.2, 1.5))
    stamp = {**OTHER, "corpus_fingerprint": "dddddddddddddddd"} if different == "corpus" else OTHER
    bench.row("other", {1: 20.0}, scores=scores(1.6, 1.4), stamp=stamp)
    if different == "normalisation":
        last = bench.records[-1]
        bench.records[-1] = replace(last, config={**last.config, "tokenizer": {"normalisation": "nmt_nfkc"}})
    table = bench.table()
    assert best(table, 2) == []
    assert cells(table, 2)["other"].difference is None
    assert any(note.startswith("bits/char: these rows do not share") for note in table.footnotes)
    assert not any("Rank these rows by" in note for note in table.footnotes)


def test_unknown_rates_and_vocabulary_sizes_are_columns(bench: Bench) -> None:
    bench.columns = (
        Column("OOV", metric="oov_target", digits=3, better="lower"),
        Column("V", metric="target_vocabulary", digits=0),
    )
    sizes = {"source_vocabulary": 104.0, "target_vocabulary": 104.0}
    bench.row("base", {1: 20.0, 2: 20.0}, scores={**scores(2.2, 1.5, 0.25), **sizes})
    bench.row("other", {1: 20.0, 2: 20.0}, scores={**scores(2.2, 1.5, 0.125), **sizes}, stamp=OTHER)
    bench.row("old", {1: 20.0})
    table = bench.table()
    assert best(table, 0) == ["other"]
    assert cells(table, 1)["base"].sample is not None
    assert cells(table, 1)["old"].hole == "not measured"
    assert "| 104 " in files(table)["table.md"]
    assert any("shared bpe vocabulary of 104 " in note for note in table.footnotes)
    assert any(note.startswith("Unknown pieces: their share") for note in table.footnotes)
