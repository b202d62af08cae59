"""Batches of similar length, order restored, progress, text in and out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_oracle import A, B, TableModel, random_table, slow_beam

from ablatable.config.decoding import Decoding
from ablatable.decoding.penalty import LengthPenalty
from ablatable.decoding.translate import BATCH_HYPOTHESES, length_batches, translate, translate_lines


class LetterTokenizer:
    """One piece per letter, a = 4."""

    size = 30
    fingerprint = "0" * 16

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") + A for letter in text.replace(" ", "")]

    def encode_lines(self, lines):
        return [self.encode(line) for line in lines]

    def decode(self, ids) -> str:
        return "".join(chr(ord("a") + i - A) for i in ids)


@given(
    lengths=st.lists(st.integers(0, 60), max_size=200),
    beam=st.integers(1, 8),
    budget=st.integers(1, 2000),
)
def test_batches_hold_every_sentence_once_within_the_budget(lengths, beam, budget):
    batches = list(length_batches(lengths, beam, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        widest = max(lengths[i] for i in batch) + 1
        assert len(batch) == 1 or len(batch) * beam * widest <= budget
        assert len(batch) == 1 or len(batch) * beam <= BATCH_HYPOTHESES
    ordered = [lengths[i] for batch in batches for i in batch]
    assert ordered == sorted(lengths, reverse=True)


@pytest.mark.parametrize("budget", [1, 40, 10_000])
def test_results_come_back_in_the_order_given(budget):
    """Each sentence's own first piece decides its output, so a permutation cannot go unnoticed."""
    table = random_table(11, 9)
    rng = np.random.default_rng(0)
    sources = [[A + i, *rng.integers(A, 9, size=rng.integers(0, 12))] for i in range(30)]
    decode = Decoding(beam=3, extra_tokens=2)
    calls: list[tuple[int, int]] = []
    found = translate(TableModel(table), sources, decode, lambda *call: calls.append(call), batch_tokens=budget)
    for source, hypothesis in zip(sources, found, strict=True):
        ids, score, finished = slow_beam(table, source[0], len(source) + 2, 3, LengthPenalty(0.6))
        assert (hypothesis.ids, hypothesis.finished) == (ids, finished)
        assert hypothesis.score == pytest.approx(score, abs=1e-9)
    assert calls[-1] == (30, 30)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def test_packed_ids_are_taken_as_they_are():
    table = random_table(1, 9)
    lists = translate(TableModel(table), [[A, B], [B]], Decoding(beam=2))
    arrays = translate(TableModel(table), [np.array([A, B], np.uint16), np.array([B], np.int32)], Decoding(beam=2))
    assert lists == arrays


def test_nothing_to_translate():
    assert translate(TableModel(random_table(1, 9)), [], Decoding()) == []


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_meanwhile_and_as_before_afterwards(training):
    model = TableModel(random_table(1, 9), training=training)
    translate(model, [[A]], Decoding(beam=1))
    assert model.modes == [False, training]


def test_lines_keep_their_places_and_blank_ones_stay_blank():
    def end_after_source_letter(key, prefix):
        table = np.full(30, -np.inf)
        table[3 if prefix else key] = 0.0
        return table

    tokenizer = LetterTokenizer()
    lines = ["b", "", "dab", "  ", "c"]
    model = TableModel(end_after_source_letter)
    assert translate_lines(model, lines, tokenizer, tokenizer, Decoding(beam=2)) == ["b", "", "d", "", "c"]
