"""Perplexity per piece and bits per character from sums of unsmoothed NLL: summed and counted apart, divided once."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ablatable.errors import RunFailed

MOST_NATS = 700.0
"""Where float64 ends: a mean above it is reported as e^700."""

FUTURE_VISIBLE = "teacher-forced, future visible"
"""Signature of a likelihood whose model was shown the very pieces it was asked for (``model.causal=false``)."""


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


def bits_per_character(nll_sum: float, references: Iterable[str]) -> float:
    """NLL of whole lines in bits over their characters, which says the same whatever the pieces.

    Characters are Unicode code points of the untouched references, and one more for each line: the end mark, whose
    NLL is in the sum, stands for the end of the line. What an unknown piece hides costs next to nothing, so the number
    flatters a vocabulary that leaves much out: read it beside the share of unknown pieces.

    Args:
        nll_sum: nats of all tokens of these lines, end marks included.
        references: the lines, without line ends.

    Raises:
        RunFailed: there are no lines.
    """
    characters = sum(len(line) + 1 for line in references)
    return mean_nll(nll_sum, characters) / math.log(2)
