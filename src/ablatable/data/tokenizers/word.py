"""The most frequent words, and every other word unknown (Bahdanau et al., 2015, section 4.1).

A word is a run of letters, digits and underscores; any other character, white space included, is a piece of its own.
A single space belongs to the word or character it stands before: so ``Yes, dog!`` is ``▁Yes``, ``,``, ``▁dog``, ``!``,
``dog`` after a bracket is another piece than ``▁dog``, and joining pieces gives the text back as it was written,
which BLEU needs. (Shown with ``▁`` for the space; a line is cut as if a space stood before it.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ablatable.data.tokenizers.closed import ClosedTokenizer, most_frequent
from ablatable.data.tokenizers.stored import pack_pieces, unpack_pieces

_BEFORE = " "
_UNIT = re.compile(r" ?\w+| ?[^\w\s]|\s")


class Word:
    """``tokenizer.kind=word``."""

    packages = ("sentencepiece",)

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Return the stored list of words; raise InputError where ``size`` leaves none."""
        return pack_pieces(most_frequent("word", _cut, lines, size, normalisation))

    def load(self, model: bytes, normalisation: str) -> ClosedTokenizer:
        """Read back what ``train`` returned; raise ValueError where it is damaged."""
        return ClosedTokenizer("word", _cut, unpack_pieces(model), normalisation, before=_BEFORE)


def _cut(line: str) -> list[str]:
    return _UNIT.findall(_BEFORE + line) if line else []
