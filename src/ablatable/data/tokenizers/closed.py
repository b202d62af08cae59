"""What ``word`` and ``character`` share: a vocabulary of the most frequent units of the text, and no way to say others.

Conventions, stated because each of them changes numbers:

* ``tokenizer.size`` is the most pieces there may be, the four special ones included. Text with fewer different
  units makes a smaller vocabulary, and the record holds the size it has (``source_vocabulary``,
  ``target_vocabulary``); text with more leaves the rarest out, which are then unknown, one id for each occurrence,
  neighbours never merged. How many that are in the training text is said when the vocabulary is made, and the
  record holds the share in valid and test (``valid.oov_source``).
* units are cut so that their concatenation is the text: decoding joins them, and what is known comes back
  character by character, spaces and punctuation included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ablatable.data.corpora.storage import to_stderr
from ablatable.data.tokenizers.fingerprint import fingerprint
from ablatable.data.tokenizers.normalisation import normaliser
from ablatable.data.tokenizers.special import FIRST_PIECE, NAMES, UNK
from ablatable.errors import InputError

Cut = Callable[[str], list[str]]
"""Cuts a line into units whose concatenation is the line, apart from what a kind puts before every line."""


def most_frequent(kind: str, cut: Cut, lines: Iterable[str], size: int, normalisation: str) -> list[str]:
    """Return the vocabulary without its special pieces: most frequent first, equally frequent ones by code point.

    Args:
        kind: the name of the kind, for messages.
        cut: makes units of a line.
        lines: sentences of the training side(s); read once.
        size: most pieces in the vocabulary, the special ones included.
        normalisation: ``identity`` or ``nmt_nfkc``.

    Raises:
        InputError: ``size`` leaves no piece beside the special ones, or the text is empty.
    """
    if size <= FIRST_PIECE:
        raise InputError(
            f"tokenizer.size={size} leaves no piece beside the {FIRST_PIECE} special ids; set a larger size"
        )
    normalise = normaliser(normalisation)
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(cut(normalise(line)))
    if not counts:
        raise InputError(f"tokenizer.kind={kind} with tokenizer.size={size} has no training text to take pieces from")
    ranked = sorted(counts, key=lambda unit: (-counts[unit], unit))
    kept, left_out = ranked[: size - FIRST_PIECE], ranked[size - FIRST_PIECE :]
    if left_out:
        to_stderr(_left_out(kind, size, counts, left_out))
    return kept


def _left_out(kind: str, size: int, counts: Counter[str], units: Sequence[str]) -> str:
    total, unknown = counts.total(), sum(counts[unit] for unit in units)
    characters = sum(len(unit.strip(" ") or unit) * counts[unit] for unit in units)
    return (
        f"tokenizer.kind={kind} with tokenizer.size={size} leaves out {len(units):,} of {len(counts):,} different "
        f"pieces: {unknown:,} of the {total:,} pieces of the training text ({100 * unknown / total:.2f} %, "
        f"{characters:,} characters) are unknown"
    )


class ClosedTokenizer:
    """A closed vocabulary behind the ``Tokenizer`` protocol.

    ``before`` is what ``cut`` puts before a line; it is taken from the front of decoded text.
    """

    def __init__(self, kind: str, cut: Cut, pieces: Sequence[str], normalisation: str, before: str = "") -> None:
        self._cut = cut
        self._normalise = normaliser(normalisation)
        self._before = before
        self._pieces = [*NAMES, *pieces]
        self._ids = {piece: index for index, piece in enumerate(pieces, FIRST_PIECE)}
        self.size: int = len(self._pieces)
        self.fingerprint = fingerprint(kind, normalisation, self._pieces)

    def pieces(self) -> list[str]:
        """Return the pieces in id order, special ones first."""
        return list(self._pieces)

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line; what the vocabulary lacks is unknown, unit by unit."""
        ids = self._ids
        return [ids.get(unit, UNK) for unit in self._cut(self._normalise(text))]

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of many lines."""
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the whole list; special ids leave no text."""
        text = "".join(self._pieces[int(index)] for index in ids if index >= FIRST_PIECE)
        return text.removeprefix(self._before)
