"""Hypotheses and references are paired line by line, or nothing is scored."""

from __future__ import annotations

from collections.abc import Sequence

from ablatable.errors import InputError


def check_pairs(hypotheses: Sequence[object], references: Sequence[object]) -> None:
    """Refuse what cannot be one hypothesis and one reference per sentence.

    An empty hypothesis is a hypothesis: it stays, and costs its length.

    Raises:
        InputError: the counts differ, there is nothing to score, or an element is not text (references are
            one list of sentences, not one list for each sentence).
    """
    if len(hypotheses) != len(references):
        raise InputError(
            f"{len(hypotheses)} hypotheses for {len(references)} references; score the translation of every "
            "sentence, in order, against the same split"
        )
    if not hypotheses:
        raise InputError("0 hypotheses for 0 references; there is nothing to score")
    for kind, lines in (("hypothesis", hypotheses), ("reference", references)):
        for number, line in enumerate(lines, start=1):
            if not isinstance(line, str):
                raise InputError(f"{kind} {number} is a {type(line).__name__}, not text; give one flat list of lines")
