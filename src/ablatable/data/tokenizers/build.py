"""From ``config.tokenizer`` to a trained tokenizer, kept in a folder; the only reader of that section."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ablatable.config.data import Tokenizer as TokenizerConfig
from ablatable.data.publish import publish
from ablatable.data.tokenizers.bpe import Bpe
from ablatable.data.tokenizers.byte import Byte
from ablatable.data.tokenizers.character import Character
from ablatable.data.tokenizers.protocol import Tokenizer, TokenizerKind
from ablatable.data.tokenizers.unigram import Unigram
from ablatable.data.tokenizers.word import Word
from ablatable.data.tokenizers.wordpiece import WordPiece
from ablatable.errors import InputError

KINDS: dict[str, TokenizerKind] = {
    "bpe": Bpe(),
    "unigram": Unigram(),
    "wordpiece": WordPiece(),
    "word": Word(),
    "character": Character(),
    "byte": Byte(),
}
_MODEL_FILE = "tokenizer.model"


def train_tokenizer(lines: Iterable[str], config: TokenizerConfig, folder: Path) -> Tokenizer:
    """Return the tokenizer kept in ``folder``, training it there first where the folder doesn't exist.

    Args:
        lines: sentences of the training side(s); not read when the folder exists.
        config: kind, size and normalisation.
        folder: its name must stand for the text and ``config``; it appears whole or not at all.

    Raises:
        InputError: ``config.size`` is more or less than the text allows.
    """
    kind = KINDS[config.kind]

    def build(partial: Path) -> None:
        (partial / _MODEL_FILE).write_bytes(kind.train(lines, config.size, config.normalisation))

    return load_tokenizer(config, publish(folder, build))


def load_tokenizer(config: TokenizerConfig, folder: Path) -> Tokenizer:
    """Read back the tokenizer that ``train_tokenizer`` left in ``folder``.

    Raises:
        InputError: the model is missing or damaged.
    """
    try:
        return KINDS[config.kind].load((folder / _MODEL_FILE).read_bytes(), config.normalisation)
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        raise InputError(
            f"{folder}: missing or damaged tokenizer; delete the folder and run the command again"
        ) from error
