"""The unigram language model of pieces (Kudo, 2018, section 3.2): text is cut in the likeliest way, samples aside."""

from __future__ import annotations

from collections.abc import Iterable

from ablatable.data.tokenizers.sentencepiece_model import SentencePieceTokenizer, train_model
from ablatable.data.tokenizers.unigram_sampling import UnigramSampling


class Unigram:
    """``tokenizer.kind=unigram``."""

    packages = ("sentencepiece",)

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Return the trained model; raise InputError where ``size`` doesn't suit ``lines``."""
        return train_model("unigram", lines, size, normalisation)

    def load(self, model: bytes, normalisation: str) -> SentencePieceTokenizer:
        """Read back what ``train`` returned."""
        return SentencePieceTokenizer("unigram", model, normalisation, UnigramSampling)
