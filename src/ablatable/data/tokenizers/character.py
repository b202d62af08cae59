"""One piece a character (Unicode code point), spaces included (Lee et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterable

from ablatable.data.tokenizers.closed import ClosedTokenizer, most_frequent
from ablatable.data.tokenizers.stored import pack_pieces, unpack_pieces


class Character:
    """``tokenizer.kind=character``."""

    packages = ("sentencepiece",)

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Return the stored alphabet; raise InputError where ``size`` leaves none."""
        return pack_pieces(most_frequent("character", list, lines, size, normalisation))

    def load(self, model: bytes, normalisation: str) -> ClosedTokenizer:
        """Read back what ``train`` returned; raise ValueError where it is damaged."""
        return ClosedTokenizer("character", list, unpack_pieces(model), normalisation)
