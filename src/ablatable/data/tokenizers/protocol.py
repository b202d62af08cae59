"""What a tokenizer is, and what a kind of tokenizer must offer to be trained and stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable


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

    def pieces(self) -> list[str]:
        """Return the pieces in id order, special ones first."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line."""
        ...

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of many lines, the same as ``encode`` of each."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the whole list: joining single ids loses spaces. Special ids leave no text."""
        ...


@runtime_checkable
class Sampler(Tokenizer, Protocol):
    """A tokenizer that knows other segmentations of a sentence than its best."""

    def sample(self, ids: Sequence[int], rate: float, seed: int) -> list[int]:
        """Return a segmentation drawn at random of the text that ``ids`` stand for, by ``seed`` alone."""
        ...


class TokenizerKind(Protocol):
    """One value of ``tokenizer.kind``: how its model, one blob of bytes, is trained and read back."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages whose version may decide what is trained."""
        ...

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Train on ``lines`` and return the stored form; raise InputError where ``size`` cannot be had."""
        ...

    def load(self, model: bytes, normalisation: str) -> Tokenizer:
        """Read back what ``train`` returned; raise ValueError or RuntimeError where it is damaged."""
        ...
