"""Perplexity is exp(unsmoothed NLL per token), sums and counts apart."""

from __future__ import annotations

import math

import pytest

from ablatable.errors import RunFailed
from ablatable.scoring.perplexity import mean_nll, perplexity


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
