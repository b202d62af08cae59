"""The Moses tokenizer, through sacremoses, with its text left as it is (no XML escapes)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

FALLBACK_RULES = "en"


class _Moses(Protocol):
    def tokenize(self, text: str, *, return_str: bool, escape: bool) -> str: ...


@dataclass(frozen=True)
class MosesTokens:
    """Tokenizes by the rules of one language. ``rules`` is the language whose rules these are."""

    rules: str
    moses: _Moses

    def tokenize(self, line: str) -> str:
        """Tokens joined by single spaces."""
        return self.moses.tokenize(line, return_str=True, escape=False)


@cache
def moses_tokenizer(language: str) -> MosesTokens:
    """The tokenizer for an ISO 639-1 code; the English rules where Moses has none, as its own script does."""
    import sacremoses  # slow to load: it builds the character classes of all its rules
    from sacremoses.corpus import NonbreakingPrefixes

    known = NonbreakingPrefixes().available_langs
    rules = language if language in known.values() else FALLBACK_RULES
    return MosesTokens(rules, cast(_Moses, sacremoses.MosesTokenizer(lang=rules)))
