"""The search against exhaustive search, the slow search and the values of the DEC cases."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from search_oracle import (
    EOS,
    A,
    B,
    TableModel,
    TableState,
    best_ending,
    distribution,
    greedy,
    random_table,
    slow_beam,
)

from ablatable.decoding.beam import Hypothesis, beam_search
from ablatable.decoding.penalty import LengthPenalty


def search(
    table, keys: list[int], caps: list[int], beam: int, penalty: LengthPenalty
) -> tuple[list[Hypothesis], TableModel]:
    model = TableModel(table)
    source = torch.tensor([[key, EOS] for key in keys])
    return beam_search(model, source, caps, beam, penalty), model


def late_winner(_key: int, prefix: tuple[int, ...]):
    """DEC-03's model: ending at once is likeliest at first, yet `a b` scores higher for alpha 1."""
    known = {
        (): distribution(0.38, 0.37, 0.25),
        (A,): distribution(0.05, 0.05, 0.9),
        (A, B): distribution(0.9, 0.05, 0.05),
    }
    return known.get(prefix, distribution(0.5, 0.25, 0.25))


def test_dec_01_length_penalty_is_wu_et_al():
    penalty = LengthPenalty(0.6)
    assert penalty.of_length(10) == pytest.approx(1.7328621079, abs=1e-10)
    assert -6 / penalty.of_length(10) == pytest.approx(-3.4624797742, abs=1e-10)
    assert [penalty.of_length(n) for n in (1, 5, 20)] == pytest.approx([1.0, 1.3586551827, 2.3543620837])
    assert LengthPenalty(0.0).of_length(10) == 1.0


def test_dec_02_one_rule_for_the_end_token():
    """Ten pieces and the end token: 10 or 11 by the option, the start token never."""
    assert LengthPenalty(0.6, counts_eos=False).finished(11) == pytest.approx(1.7328621079, abs=1e-10)
    assert LengthPenalty(0.6, counts_eos=True).finished(11) == pytest.approx(1.8012800514, abs=1e-10)
    for counts_eos in (True, False):
        assert LengthPenalty(0.6, counts_eos).unfinished(10) == pytest.approx(1.7328621079, abs=1e-10)


def test_dec_02_option_reaches_the_score():
    fixed = {(): distribution(0.0, 1.0, 0.0), (A,): distribution(0.5, 0.5, 0.0)}

    def table(_key, prefix):
        return fixed.get(prefix, distribution(1.0, 0.0, 0.0))

    for counts_eos, length in ((True, 2), (False, 1)):
        [found], _ = search(table, [A], [1], 2, LengthPenalty(1.0, counts_eos))
        assert found.ids == [A]
        assert found.score == pytest.approx(np.log(0.5) / ((5 + length) / 6))


@pytest.mark.parametrize(
    ("alpha", "ids", "score"), [(1.0, [A, B], -0.903730), (0.0, [], -0.967584)], ids=["alpha1", "alpha0"]
)
def test_dec_03_stops_only_when_nothing_better_can_come(alpha, ids, score):
    [found], _ = search(late_winner, [A], [3], 2, LengthPenalty(alpha))
    assert found.ids == ids
    assert found.score == pytest.approx(score, abs=1e-6)
    assert found.finished


def test_dec_03_stops_as_soon_as_nothing_better_can_come():
    """With alpha 0 the first ending, log .38, beats all that live on after `a b`: .37 x .9 = .333."""
    _, model = search(late_winner, [A], [50], 2, LengthPenalty(0.0))
    assert model.fed[A] == 1


def test_dec_05_cache_follows_the_hypotheses():
    state = TableState([A], 9)
    state.history = [[(1,), (2,), (3,)]]
    state.reorder(torch.tensor([[1, 1, 0]]))
    assert state.history == [[(2,), (2,), (1,)]]


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_dec_06_a_sentence_is_the_same_alone_and_in_a_batch(beam):
    """One sentence ends at step 2, the other at step 6; nothing of the first is advanced after its end."""

    def table(key, prefix):
        length = 1 if key == A else 5
        return distribution(0.9, 0.06, 0.04) if len(prefix) >= length else distribution(0.01, 0.6, 0.39)

    alone = [search(table, [key], [9], beam, LengthPenalty(0.6))[0][0] for key in (A, B)]
    together, model = search(table, [A, B], [9, 9], beam, LengthPenalty(0.6))
    assert together == alone
    assert [len(found.ids) for found in together] == [1, 5]
    assert model.fed[A] < model.fed[B]
    reverse, _ = search(table, [B, A], [9, 9], beam, LengthPenalty(0.6))
    assert reverse == alone[::-1]


@pytest.mark.parametrize("beam", [1, 3])
def test_dec_09_start_and_padding_never_come_out(beam):
    """Even where the model thinks them likeliest; the table model asserts that one start token is fed."""

    def table(_key, prefix):
        with np.errstate(divide="ignore"):
            return np.log(np.array([0.4, 0.0, 0.3, 0.1, 0.15, 0.05]))

    [found], _ = search(table, [A], [5], beam, LengthPenalty(0.6))
    assert set(found.ids) <= {A, B}


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("cap", [0, 1, 4])
def test_nothing_ends_before_the_cap_returns_the_best_live_one(beam, cap):
    def table(_key, prefix):
        return distribution(0.0, 0.7, 0.3)

    [found], _ = search(table, [A], [cap], beam, LengthPenalty(0.6))
    assert found.ids == [A] * cap
    assert found.score == pytest.approx(cap * np.log(0.7) / LengthPenalty(0.6).unfinished(cap))
    assert not found.finished


def test_the_cap_counts_pieces_not_the_end_token():
    """A copy of the source fits into extra_tokens = 0."""

    def table(_key, prefix):
        return distribution(1.0, 0.0, 0.0) if len(prefix) == 3 else distribution(0.0, 1.0, 0.0)

    assert search(table, [A], [3], 1, LengthPenalty(0.6))[0] == [Hypothesis([A, A, A], 0.0, finished=True)]
    [found], _ = search(table, [A], [2], 1, LengthPenalty(0.6))
    assert (found.ids, found.finished) == ([A, A], False)


def test_a_model_with_few_positions_shortens_the_cap():
    """Learned positions end somewhere; the search ends there, flagged, instead of failing."""

    def table(key, prefix):
        return distribution(0.0, 0.7, 0.3)

    model = TableModel(table, positions=4)
    [found] = beam_search(model, torch.tensor([[A, EOS]]), [9], 2, LengthPenalty(0.6))
    assert (found.ids, found.finished) == ([A, A, A], False)


def test_scores_are_wide_whatever_the_logits():
    table = random_table(3, 6)
    model = TableModel(table)
    model.logits = lambda hidden: hidden.bfloat16()
    [found] = beam_search(model, torch.tensor([[A, EOS]]), [6], 2, LengthPenalty(0.6))

    def rounded(key, prefix):
        logits = torch.tensor(table(key, prefix)).bfloat16()
        return torch.log_softmax(logits, -1, dtype=torch.float32).double().numpy()

    ids, score, _ = slow_beam(rounded, A, 6, 2, LengthPenalty(0.6))
    assert found.ids == ids
    assert found.score == pytest.approx(score, abs=1e-6)


penalties = st.builds(LengthPenalty, st.sampled_from([-1.0, 0.0, 0.6, 1.0, 2.5]), st.booleans())


@given(seed=st.integers(0, 10**6), cap=st.integers(0, 3), penalty=penalties)
def test_a_wide_beam_is_exhaustive_search(seed, cap, penalty):
    table = random_table(seed, 6)
    every_hypothesis = sum(3**pieces for pieces in range(cap + 2))
    [found], _ = search(table, [A], [cap], every_hypothesis, penalty)
    ids, score = best_ending(table, A, cap, penalty)
    assert found.ids == ids
    assert found.score == pytest.approx(score, abs=1e-9)
    assert found.finished


@given(
    seed=st.integers(0, 10**6),
    caps=st.lists(st.integers(0, 7), min_size=1, max_size=4),
    beam=st.integers(1, 6),
    penalty=penalties,
    vocabulary=st.integers(5, 9),
)
def test_early_stop_and_batching_change_nothing(seed, caps, beam, penalty, vocabulary):
    """Against the search to the cap, one sentence at a time, with everything recomputed."""
    table = random_table(seed, vocabulary)
    keys = [A + i for i in range(len(caps))]
    found, _ = search(table, keys, caps, beam, penalty)
    for key, cap, hypothesis in zip(keys, caps, found, strict=True):
        ids, score, finished = slow_beam(table, key, cap, beam, penalty)
        assert hypothesis.ids == ids
        assert hypothesis.score == pytest.approx(score, abs=1e-9)
        assert hypothesis.finished == finished


@given(seed=st.integers(0, 10**6), cap=st.integers(0, 7), penalty=penalties)
def test_beam_one_is_greedy(seed, cap, penalty):
    table = random_table(seed, 7)
    [found], _ = search(table, [A], [cap], 1, penalty)
    ids, log_prob, finished = greedy(table, A, cap)
    assert (found.ids, found.finished) == (ids, finished)
    length = penalty.finished(len(ids) + 1) if finished else penalty.unfinished(len(ids))
    assert found.score == pytest.approx(log_prob / length, abs=1e-9)
