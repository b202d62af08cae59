"""Columns of a length bucket, their holes and footnote; published values of another work than the study's source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from table_bench import COLUMNS, Bench

from ablatable.report.model import Table
from ablatable.report.render import RENDERERS
from ablatable.report.yardstick import yardstick
from ablatable.study.schema import Column

SHORT = Column("BLEU 1-20", metric="bleu", bucket="1-20", digits=1, better="higher")
LONGER = Column("BLEU longer", metric="bleu", bucket="longer", digits=1, better="higher")
LONGER_PPL = Column("PPL longer", metric="ppl", bucket="longer", digits=1, better="lower")
SEEDS = {1: 20.0, 2: 20.5, 3: 20.2}


def in_buckets(short: float, longer: float | None, counted: float) -> Mapping[str, float]:
    found = {"valid.bleu.1-20": short, "valid.sentences.1-20": 12.0, "valid.sentences.longer": counted}
    return found if longer is None else found | {"valid.bleu.longer": longer, "valid.ppl.longer": 30.0}


def table_of(longer: float | None, counted: float, stamp: Mapping[str, str] | None = None) -> Table:
    bench = Bench(columns=(SHORT, LONGER, LONGER_PPL))
    bench.row("base", SEEDS, scores=in_buckets(20.0, longer, counted))
    bench.row("other", SEEDS, scores=in_buckets(22.0, longer and longer - 1, counted), stamp=stamp)
    return bench.table()


def test_a_bucket_has_a_column_of_its_own() -> None:
    table = table_of(8.0, 5)
    assert [column.key for column in table.metrics] == ["valid.bleu.1-20", "valid.bleu.longer", "valid.ppl.longer"]
    base, other = (row.cells for row in table.rows)
    assert [cell.sample.mean for cell in other if cell.sample] == [22.0, 7.0, 30.0]
    assert other[1].difference is not None
    assert other[1].difference.value == pytest.approx(-1)
    assert [cell.best for cell in base] == [False, True, True]
    (note,) = (note for note in table.footnotes if note.startswith("Length buckets"))
    assert note.endswith("translated sentences of the valid split: 1-20 12, longer 5.")


def test_an_empty_bucket_is_a_hole_with_its_cause_once() -> None:
    table = table_of(None, 0)
    for row in table.rows:
        assert [cell.hole for cell in row.cells] == [None, "not measured", "not measured"]
        (marker,) = row.markers
        assert dict(table.notes)[marker] == "no translated sentence of the valid split is in length bucket longer"
    assert all(form(table) for form in RENDERERS.values())


def test_a_bucket_that_a_run_did_not_measure_is_another_cause() -> None:
    bench = Bench(columns=(SHORT,))
    bench.row("base", SEEDS)
    table = bench.table()
    assert [text for _, text in table.notes] == ["has no valid.bleu.1-20 in its record"]


def test_lengths_in_other_pieces_are_not_compared() -> None:
    """BLEU of the whole split is compared across tokenizers; a bucket of 20 pieces is other sentences there."""
    table = table_of(8.0, 5, {"tokenizer_fingerprint": "uuuuuuuuuuuuuuuu"})
    assert all(cell.difference is None and not cell.best for row in table.rows for cell in row.cells[:2])
    bench = Bench()
    bench.row("base", SEEDS, scores=in_buckets(1.0, 1.0, 1.0))
    record = bench.records[0]
    assert yardstick(record, "valid.bleu.1-20") != yardstick(record, "valid.bleu.longer")
    assert yardstick(record, "valid.bleu.1-20")[: len(yardstick(record, "valid.bleu"))] == yardstick(
        record, "valid.bleu"
    )


def published(**row: Any) -> Table:
    """The base at 20 BLEU (25.8 in the study's source), a row one above it."""
    bench = Bench()
    bench.row("base", {1: 20.0, 2: 20.01, 3: 19.99}, reported={"bleu": 25.8, "ppl": 4.92})
    bench.row("other", {1: 21.0, 2: 21.01, 3: 20.99}, **row)
    return bench.table()


def test_a_value_of_another_work_is_compared_with_that_works_baseline_and_marked() -> None:
    """24.9 is below the study's 25.8 and above its own work's 24.0: only the second says what that work found."""
    table = published(reported={"bleu": 24.9}, reported_from="Someone et al. 2019", reported_base={"bleu": 24.0})
    row = table.rows[1]
    assert row.cells[1].paper == 24.9
    assert row.cells[1].agreement is not None
    assert row.cells[1].agreement.verdict == "same"
    (marker,) = row.markers
    assert dict(table.notes)[marker] == "paper: Someone et al. 2019, whose own baseline has BLEU 24"
    own = published(reported={"bleu": 24.9}).rows[1]
    assert own.cells[1].agreement is not None
    assert own.cells[1].agreement.verdict == "opposite"
    assert own.markers == ()


def test_without_its_baseline_there_is_no_direction_to_compare() -> None:
    table = published(reported={"bleu": 34.0}, reported_from="Someone et al. 2020")
    assert table.rows[1].cells[1].agreement is None
    assert [text for _, text in table.notes] == ["paper: Someone et al. 2020, without a baseline to compare with"]
    assert COLUMNS[3].reported == "bleu"
