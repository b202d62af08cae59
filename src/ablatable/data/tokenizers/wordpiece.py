"""WordPiece: each word is cut by the longest matching piece, again and again (Wu et al., 2016, section 4.1).

Conventions, stated because each of them changes numbers:

* a word is what stands between spaces, punctuation included; ``##`` marks a piece that continues one, so decoding puts
  a space before every piece without the mark and the text comes back as it was written, except that repeated and
  outer spaces are lost;
* a word with a part that no piece matches is unknown as a whole, one id for it, and so is a word of more than 100
  characters;
* every character of the training text gets a piece in either place it stands in; a size below that is refused;
* the vocabulary is grown by merging the most frequent pair, which is what the trainer of the library ``tokenizers``
  does. Left alone, that trainer numbers characters in the order of a hash map and decides ties by these numbers: the
  same text gives another vocabulary each time. Here the characters are numbered first, by code point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ablatable.data.tokenizers.fingerprint import fingerprint
from ablatable.data.tokenizers.normalisation import normaliser
from ablatable.data.tokenizers.special import FIRST_PIECE, NAMES, UNK
from ablatable.data.tokenizers.stored import pack_pieces, unpack_pieces
from ablatable.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Library

_CONTINUES = "##"
_LONGEST_WORD = 100
# A number sign of the text must not be taken for the mark: inside the vocabulary it is this private character.
_NUMBER_SIGN = "\ue023"
# No word has a space in it, so text that reads like a special piece is never taken for one.
_SPECIAL = tuple(f" {name}" for name in NAMES)
_WORDS_A_LINE = 1000


class WordPiece:
    """``tokenizer.kind=wordpiece``."""

    packages = ("sentencepiece", "tokenizers")

    def train(self, lines: Iterable[str], size: int, normalisation: str) -> bytes:
        """Return the stored list of pieces; raise InputError where ``size`` doesn't suit ``lines``."""
        if size <= FIRST_PIECE:
            raise InputError(
                f"tokenizer.size={size} leaves no piece beside the {FIRST_PIECE} special ids; set a larger size"
            )
        normalise = normaliser(normalisation)
        words = Counter(word for line in lines for word in _words(normalise(line)))
        beginning = {character for word in words for character in word}
        continuing = sorted({_CONTINUES + character for word in words for character in word[1:]})
        needed = FIRST_PIECE + len(beginning) + len(continuing)
        if not words or size < needed:
            raise InputError(
                f"tokenizer.size={size} is smaller than the alphabet of the training text: with the special ids it "
                f"needs {needed}; set tokenizer.size={needed} or more"
            )
        pieces = _grown(words, continuing, size - FIRST_PIECE)
        limit = FIRST_PIECE + len(pieces)
        if limit < size:
            raise InputError(
                f"tokenizer.size={size} is more than the training text supports: the limit for wordpiece is {limit}; "
                f"set tokenizer.size={limit} or less, or use more text"
            )
        return pack_pieces(pieces)

    def load(self, model: bytes, normalisation: str) -> WordPieceTokenizer:
        """Read back what ``train`` returned; raise ValueError where it is damaged."""
        return WordPieceTokenizer(unpack_pieces(model), normalisation)


def _words(line: str) -> list[str]:
    return [word for word in line.replace("#", _NUMBER_SIGN).split(" ") if word]


def _grown(words: Counter[str], continuing: list[str], size: int) -> list[str]:
    """At most ``size`` pieces by merging the most frequent pair, in the order of their making."""
    from tokenizers.trainers import WordPieceTrainer

    trainer = WordPieceTrainer(
        vocab_size=size,
        min_frequency=0,
        show_progress=False,
        # Only what is called special is numbered in the order given; nothing else comes of it.
        special_tokens=continuing,
        continuing_subword_prefix=_CONTINUES,
    )
    made = _library({_SPECIAL[UNK]: 0})
    made.train_from_iterator(_repeated(words), trainer)
    numbers = made.get_vocab(with_added_tokens=False)
    return sorted(numbers, key=numbers.__getitem__)


def _library(vocabulary: dict[str, int]) -> Library:
    """The library's tokenizer over a vocabulary. Imported here: no other kind needs to wait for it."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(
        models.WordPiece(
            vocabulary,
            unk_token=_SPECIAL[UNK],
            max_input_chars_per_word=_LONGEST_WORD,
            continuing_subword_prefix=_CONTINUES,
        )
    )
    made.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
    return made


def _repeated(words: Counter[str]) -> Iterator[str]:
    """Lines with every word as often as it is counted: the library takes text, not counts."""
    for word, count in words.items():
        for done in range(0, count, _WORDS_A_LINE):
            yield " ".join([word] * min(_WORDS_A_LINE, count - done))


class WordPieceTokenizer:
    """A WordPiece vocabulary behind the ``Tokenizer`` protocol; ``pieces`` are given without the special ones."""

    def __init__(self, pieces: Sequence[str], normalisation: str) -> None:
        self._normalise = normaliser(normalisation)
        self._pieces = [*_SPECIAL, *pieces]
        vocabulary = {piece: index for index, piece in enumerate(self._pieces)}
        self._library = _library(vocabulary)
        self.size: int = len(self._pieces)
        self.fingerprint = fingerprint("wordpiece", normalisation, self.pieces())

    def pieces(self) -> list[str]:
        """Return the pieces in id order, special ones first."""
        return [*NAMES, *self._pieces[FIRST_PIECE:]]

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line."""
        return self._library.encode(self._prepared(text), add_special_tokens=False).ids

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of many lines; the number of threads changes nothing but the time."""
        prepared = [self._prepared(line) for line in lines]
        return [encoded.ids for encoded in self._library.encode_batch(prepared, add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the whole list; special ids leave no text."""
        pieces = [self._pieces[int(index)] for index in ids if index >= FIRST_PIECE]
        text = "".join(
            piece.removeprefix(_CONTINUES) if piece.startswith(_CONTINUES) else f" {piece}" for piece in pieces
        )
        return text.removeprefix(" ").replace(_NUMBER_SIGN, "#")

    def _prepared(self, text: str) -> str:
        return self._normalise(text).replace("#", _NUMBER_SIGN)
