"""``tokenizer.normalisation`` for the kinds that sentencepiece does not train; its own kinds carry the rule inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import sentencepiece

Normaliser = Callable[[str], str]


def normaliser(rule: str) -> Normaliser:
    """Return the rewriting of one line.

    ``identity`` keeps the text. ``nmt_nfkc`` is sentencepiece's rule of that name, applied by sentencepiece itself:
    compatibility characters are rewritten, repeated and outer spaces removed.
    """
    if rule == "identity":
        return str
    made = cast(Any, sentencepiece).SentencePieceNormalizer(
        rule_name=rule, add_dummy_prefix=False, escape_whitespaces=False, remove_extra_whitespaces=True
    )

    def normalise(text: str) -> str:
        return made.normalize(text)

    return normalise
