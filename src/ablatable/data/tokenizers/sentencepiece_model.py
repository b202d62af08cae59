"""What the sentencepiece kinds share: training with our special ids, errors in our words, and the processor.

Conventions, stated because each of them changes numbers:

* every character of the training text gets a piece (coverage 1), so training text has no unknowns, as in the
  paper's byte-pair encoding; a size below that alphabet is refused;
* ``identity`` keeps the text as it is, repeated and outer spaces included; ``nmt_nfkc`` is sentencepiece's
  own default, which rewrites characters and collapses white space (references are never taken from decoded
  ids).
"""

from __future__ import annotations

import io
import os
import random
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol, cast

import sentencepiece

from ablatable.data.tokenizers.fingerprint import fingerprint
from ablatable.data.tokenizers.special import BOS, EOS, FIRST_PIECE, PAD, UNK
from ablatable.errors import InputError

# Fixed, not taken from the machine: it orders the unigram model's float sums, and so decides between nearly
# equal pieces (6 of 2,000 differ between 1 and 8 threads on 6,000 English sentences).
_TRAINING_THREADS = 8
# Longer lines are left out of training without a word; sentencepiece's default is 4192 bytes.
_LONGEST_LINE_BYTES = 1 << 24
_LOG_NOTHING = 3
# sentencepiece's mark of a word's beginning stands for a space; a piece never reaches over one.
_WORD = re.compile("\u2581[^\u2581]*|[^\u2581]+")


def train_model(model_type: str, lines: Iterable[str], size: int, normalisation: str) -> bytes:
    """Train a sentencepiece model of ``size`` pieces, the four special ones included.

    Args:
        model_type: sentencepiece's name of the algorithm, ``bpe`` or ``unigram``.
        lines: sentences of the training side(s); read once.
        size: pieces in the vocabulary.
        normalisation: a sentencepiece rule, ``identity`` or ``nmt_nfkc``.

    Returns:
        The serialised model.

    Raises:
        InputError: ``size`` is smaller than the alphabet or larger than the text can fill; the limit is
        named.
    """
    if size <= FIRST_PIECE:
        raise InputError(
            f"tokenizer.size={size} leaves no piece beside the {FIRST_PIECE} special ids; set a larger size"
        )
    model = io.BytesIO()
    trainer = cast(Any, sentencepiece.SentencePieceTrainer)
    try:
        trainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type=model_type,
            vocab_size=size,
            character_coverage=1.0,
            normalization_rule_name=normalisation,
            remove_extra_whitespaces=normalisation != "identity",
            pad_id=PAD,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            max_sentence_length=_LONGEST_LINE_BYTES,
            num_threads=_TRAINING_THREADS,
            minloglevel=_LOG_NOTHING,
        )
    except RuntimeError as error:
        raise InputError(_explain(str(error), model_type, size)) from error
    return model.getvalue()


def _explain(message: str, model_type: str, size: int) -> str:
    """Say in one sentence why sentencepiece refused ``size``, with the limit it names."""
    if found := re.search(r"too high .*value <= (\d+)", message):
        return (
            f"tokenizer.size={size} is more than the training text supports: "
            f"the limit for {model_type} is {found[1]}; "
            f"set tokenizer.size={found[1]} or less, or use more text"
        )
    if found := re.search(r"required_chars\. \d+ vs (\d+)", message):
        return (
            f"tokenizer.size={size} is smaller than the alphabet of the training text: "
            f"with the special ids it needs {found[1]}; set tokenizer.size={found[1]} or more"
        )
    return f"sentencepiece could not train a {model_type} tokenizer with tokenizer.size={size}: {message}"


class WordSampling(Protocol):
    """How a kind draws a word's segmentation; made of a vocabulary's pieces and their scores, in id order."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None: ...

    def cut(self, word: str, rate: float, draw: Callable[[], float]) -> list[int]:
        """Return a segmentation of one word at a kind's ``rate`` by uniform numbers in [0, 1)."""
        ...


class SentencePieceTokenizer:
    """A trained sentencepiece model behind the ``Tokenizer`` protocol."""

    def __init__(self, kind: str, model: bytes, normalisation: str, sampling: type[WordSampling]) -> None:
        self._processor = cast(Any, sentencepiece.SentencePieceProcessor(model_proto=model))
        self.size: int = self._processor.get_piece_size()
        self.fingerprint = fingerprint(kind, normalisation, self.pieces())
        self._sampling = sampling

    def pieces(self) -> list[str]:
        """Return the pieces in id order, special ones first."""
        return [self._processor.id_to_piece(index) for index in range(self.size)]

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line."""
        return self._processor.encode(text)

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of many lines; the number of threads changes nothing but the time."""
        return self._processor.encode(list(lines), num_threads=os.cpu_count() or 1)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the whole list; special ids leave no text."""
        return self._processor.decode([int(index) for index in ids if index >= FIRST_PIECE])

    def sample(self, ids: Sequence[int], rate: float, seed: int) -> list[int]:
        """Return another segmentation of the same text, drawn at random; the same for the same arguments, everywhere.

        A sentence with an unknown piece is returned as it is: its text is not all there. sentencepiece's own sampling
        is not used: the generator of 0.2.3 is salted anew in every process. A seed gives one text here and another
        there, and a resumed run or a second device would read something else.

        Args:
            ids: the pieces of one sentence.
            rate: BPE: the share of merges left out (p of Provilkov et al., 2020, section 3). Unigram: alpha, the power
                of a segmentation's probability in the draw from all of them (Kudo, 2018, section 3.3, l infinite).
            seed: from 0.
        """
        if UNK in ids:
            return list(ids)
        pieces, words = self._drawn
        draw = random.Random(seed).random
        text = "".join(pieces[index] for index in ids)
        return [index for word in _WORD.findall(text) for index in words.cut(word, rate, draw)]

    @cached_property
    def _drawn(self) -> tuple[list[str], WordSampling]:
        pieces = self.pieces()
        return pieces, self._sampling(pieces, [self._processor.get_score(index) for index in range(self.size)])
