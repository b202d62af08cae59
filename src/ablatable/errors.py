"""The two ways a command can end badly, and the hint that goes with a misspelt word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """Bad input: one clear sentence that names the file, the key and the remedy. The command line exits 2."""


class RunFailed(Exception):
    """A run or a check failed for a reason the message names. The command line exits 1."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the closest known word, or an empty string when nothing is close."""
    candidates = list(known)
    exact_tail = [name for name in candidates if name.rsplit(".", 1)[-1] == word.rsplit(".", 1)[-1]]
    close = exact_tail or difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
