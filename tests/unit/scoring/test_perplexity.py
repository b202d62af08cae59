"""Perplexity is exp(unsmoothed NLL per token), sums and counts apart."""

from __future__ import annotations

import math

import pytest

from ablatable.errors import RunFailed
from ablatable.scoring.perplexity import bits_per_character, mean_nll, perplexity


def test_loss_06_perplexity_of_the_nll_not_of_the_smoothed_loss():
    nll, smoothed = math.log(1.6407966697), math.log(1.8826528980)
    assert perplexity(nll * 7, 7) == pytest.approx(1.6407966697, abs=1e-9)
    assert perplexity(nll * 7, 7) != pytest.approx(math.exp(smoothed), abs=0.1)


def test_loss_07_nats_and_base_e():
    losses = [1.0, 2.0, 3.0, 2.0]
    assert mean_nll(sum(losses), len(losses)) == 2.0
    assert perplexity(sum(losses), len(losses)) == pytest.approx(7.3890560989, abs=1e-9)


def test_trn_04_weighted_by_tokens_not_by_sentences():
    """Two sentences of one token at 1 nat, two of four tokens at 3 nats."""
    sums, counts = [2 * 1.0, 8 * 3.0], [2, 8]
    assert mean_nll(sum(sums), sum(counts)) == pytest.approx(2.6)
    assert perplexity(sum(sums), sum(counts)) == pytest.approx(13.4637380, abs=1e-6)


def test_a_diverged_model_has_a_finite_perplexity_that_can_be_recorded():
    assert math.isfinite(perplexity(1e6, 1))


@pytest.mark.parametrize("tokens", [0, -1])
def test_no_tokens_no_mean(tokens):
    with pytest.raises(RunFailed, match="has no mean"):
        perplexity(0.0, tokens)


def test_bits_per_character_counts_the_line_end_and_code_points():
    """Two lines of 3 and 4 characters, each with its end: 9 characters at 2 bits."""
    assert bits_per_character(9 * 2 * math.log(2), ["été", "a b c"[:4]]) == pytest.approx(2.0)


def test_bits_per_character_does_not_depend_on_the_pieces():
    """A uniform model over 4 equally likely letters: 2 bits a character as letters or as pairs of letters."""
    lines = ["abcd"] * 5
    by_letter = bits_per_character(5 * 4 * math.log(4), lines)
    by_pair = bits_per_character(5 * 2 * math.log(16), lines)
    assert by_letter == pytest.approx(by_pair)
    assert perplexity(5 * 4 * math.log(4), 20) != pytest.approx(perplexity(5 * 2 * math.log(16), 10))


def test_no_lines_no_bits():
    with pytest.raises(RunFailed, match="empty"):
        bits_per_character(0.0, [])
