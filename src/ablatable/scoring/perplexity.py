"""Perplexity per piece from sums of unsmoothed NLL in nats: summed and counted apart, divided once."""

from __future__ import annotations

import math

from ablatable.errors import RunFailed

MOST_NATS = 700.0
"""Where float64 ends: a mean above it is reported as e^700."""


def mean_nll(nll_sum: float, tokens: int) -> float:
    """Nats per token; ``tokens`` counts the end token of every sentence and no padding.

    Raises:
        RunFailed: there are no tokens to divide by.
    """
    if tokens <= 0:
        raise RunFailed(f"the NLL of {tokens} tokens has no mean; the split is empty")
    return nll_sum / tokens


def perplexity(nll_sum: float, tokens: int) -> float:
    """Return exp(nll_sum / tokens), nats and base e on both sides."""
    return math.exp(min(mean_nll(nll_sum, tokens), MOST_NATS))
