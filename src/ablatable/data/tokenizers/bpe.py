"""Byte-pair encoding (Sennrich et al., 2016, section 3.2), the paper's choice for English-German (5.1)."""

from __future__ import annotations

from collections.abc import Iterable

from ablatable.data.tokenizers.bpe_dropout import BpeDropout
from ablatable.data.tokenizers.sentencepiece_model import SentencePieceTokenizer, train_model


class Bpe:
    """``tokenizer.kind=bpe``."""

    packages = ("sentencepiece",)

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Return the trained model; raise InputError where ``size`` doesn't suit ``lines``."""
        return train_model("bpe", lines, size, normalisation)

    def load(self, model: bytes, normalisation: str) -> SentencePieceTokenizer:
        """Read back what ``train`` returned."""
        return SentencePieceTokenizer("bpe", model, normalisation, BpeDropout)
