"""The length penalty of Wu et al. 2016 (equation 14), the paper's section 6.1."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LengthPenalty:
    """A hypothesis scores log P(Y|X) / lp(Y), with lp(Y) = ((5 + |Y|) / 6) ** alpha.

    |Y| counts the pieces of Y; the start token never, the end token only where ``counts_eos``. One rule
    serves hypotheses that have ended and those that have not: the latter have no end token to count.
    """

    alpha: float
    counts_eos: bool = True

    def of_length(self, length: int) -> float:
        """Return lp for |Y| = ``length``, counted as this penalty counts."""
        return ((5.0 + length) / 6.0) ** self.alpha

    def finished(self, step: int) -> float:
        """Return lp of a hypothesis whose ``step``-th token is the end token."""
        return self.of_length(step if self.counts_eos else step - 1)

    def unfinished(self, step: int) -> float:
        """Return lp of a hypothesis of ``step`` tokens, none of them the end token."""
        return self.of_length(step)
