"""One piece a byte of UTF-8 (Xue et al., 2022, section 3): 256 and the four special ids, nothing is ever unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ablatable.data.tokenizers.fingerprint import fingerprint
from ablatable.data.tokenizers.normalisation import normaliser
from ablatable.data.tokenizers.special import FIRST_PIECE, NAMES

_MODEL = b"bytes of UTF-8\n"


class Byte:
    """``tokenizer.kind=byte``."""

    packages = ("sentencepiece",)

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Return the stored form, which is the same for every text; ``size`` means nothing here (config refuses it)."""
        return _MODEL

    def load(self, model: bytes, normalisation: str) -> ByteTokenizer:
        """Read back what ``train`` returned; raise ValueError where it is damaged."""
        if model != _MODEL:
            raise ValueError("not the stored form of a byte tokenizer")
        return ByteTokenizer(normalisation)


class ByteTokenizer:
    """Bytes behind the ``Tokenizer`` protocol: byte b has the id b + 4."""

    size: int = 256 + FIRST_PIECE

    def __init__(self, normalisation: str) -> None:
        self._normalise = normaliser(normalisation)
        self.fingerprint = fingerprint("byte", normalisation, self.pieces())

    def pieces(self) -> list[str]:
        """Return the pieces in id order, special ones first, each byte as ``<0x0A>``."""
        return [*NAMES, *(f"<0x{byte:02X}>" for byte in range(256))]

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line."""
        return [byte + FIRST_PIECE for byte in self._normalise(text).encode()]

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of many lines."""
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the whole list; bytes that are no UTF-8 become U+FFFD, special ids leave no text."""
        return bytes(int(index) - FIRST_PIECE for index in ids if index >= FIRST_PIECE).decode(errors="replace")
