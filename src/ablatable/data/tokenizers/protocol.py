"""What a tokenizer is, and what a kind of tokenizer must offer to be trained and stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """Text to ids and back. Ids 0-3 are pad, unk, bos, eos; ``encode`` adds neither bos nor eos."""

    @property
    def size(self) -> int:
        """Number of ids, the four special ones included: the vocabulary size of the model."""
        ...

    @property
    def fingerprint(self) -> str:
        """16 hex characters over kind, normalisation and piece list: equal means the same segmentation."""
        ...

    def encode(self, text: str) -> list[int]: ...

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]: ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the whole list at once (joining single ids loses spaces); special ids leave none."""
        ...


class TokenizerKind(Protocol):
    """One value of ``tokenizer.kind``: how its model is trained and read back. The model is one blob of bytes."""

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Train on ``lines`` and return the stored form; raise InputError where ``size`` cannot be had."""
        ...

    def load(self, model: bytes, normalisation: str) -> Tokenizer: ...
