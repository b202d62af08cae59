"""Cleaning rules for sentence pairs taken from pages of documentation: pure functions, one rule each."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Steps = list[tuple[str, int]]
"""(what was done or counted, how many) in the order it was done."""

_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u200c\u200d\u2060\ufeff")
_SPACE = re.compile(r"\s+")


_GAP = re.compile(r" (?=[.,](?: |$))|(?<=\() | (?=\))")


def normalise(text: str) -> str:
    """NFC, without soft hyphens and zero-width characters, white space (any kind) collapsed to single spaces.

    Spaces before full stops and commas and inside parentheses go too: they are what an icon left behind.
    """
    visible = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
    return _GAP.sub("", _SPACE.sub(" ", visible).strip())


_MAC_KEYS = (
    re.compile(r"\b(?:Command|Befehl|Befehlstaste|Commande|Cmd)\s*(?=(?:Ctrl|Strg)\b)"),
    re.compile(r"\b(?:Option|Wahltaste|Wahl)\s*(?=Alt\b)"),
)


def drop_mac_keys(text: str) -> str:
    """Remove the Mac name of a key that stands right before its PC name ("CommandCtrl+C" -> "Ctrl+C")."""
    for pattern in _MAC_KEYS:
        text = pattern.sub("", text)
    return text


_ABBREVIATION = re.compile(
    r"(?:\b(?:z\. ?B|d\. ?h|u\. ?a|u\. ?U|o\. ?[äÄ]|i\. ?d\. ?R|s\. ?[ou]|e\. ?g|i\. ?e|p\. ?ex|c\.-à-d"
    r"|z|d|u|i|e|Nr|No|bzw|usw|ca|vgl|evtl|ggf|inkl|max|min|etc|vs|cf|ex|resp|approx|Abb|Bsp|Art|Fig|St|Dr|Mr|Mrs|Jan"
    r"|Feb|Apr|Aug|Sept|Okt|Oct|Nov|Dez|Dec|env|www|Str|Inc|Co)|\b[A-Z]|\s\d{1,2})\.$"
)
_BOUNDARY = re.compile(r"(?<=[.!?:])[\"”“»)]?\s+(?=[\"„“«(]?[A-ZÄÖÜÀÂÇÉÈÊËÎÏÔÙÛŒ0-9])")


def sentences(text: str) -> list[str]:
    """Split at ``. ! ?`` before a capital or digit; not after an abbreviation, an initial or an ordinal."""
    parts: list[str] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        head = text[start : match.start()]
        if head.endswith(":") or _ABBREVIATION.search(head):
            continue
        parts.append(text[start : match.end()].strip())
        start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def split_together(source: str, target: str) -> list[tuple[str, str]]:
    """Return sentence pairs where both sides split into equally many sentences, else the pair as it is."""
    left, right = sentences(source), sentences(target)
    return list(zip(left, right, strict=True)) if len(left) == len(right) else [(source, target)]


_ADDRESS = re.compile(r"https?:|www\.|\bftp:|\w@\w", re.IGNORECASE)
MAXIMUM_WORDS, MAXIMUM_RATIO, LETTER_SHARE = 100, 3.0, 0.8


@dataclass(frozen=True)
class Rules:
    """What differs between corpora: the shortest side kept, in words, and the symbols that mark code."""

    minimum_words: int = 4
    code: re.Pattern[str] = re.compile(r"[{}\[\]|<>=_#\\]|\w\(\)")


HELP = Rules()
"""The rules of LibreOffice's help."""


def rejected(source: str, target: str, rules: Rules = HELP) -> str | None:
    """Return the name of the first rule that drops this pair, or None for a pair worth keeping."""
    counts = len(source.split()), len(target.split())
    if min(counts) < rules.minimum_words or max(counts) > MAXIMUM_WORDS:
        return "length"
    if max(counts) > MAXIMUM_RATIO * min(counts):
        return "ratio"
    if source == target:
        return "identical sides"
    for side in (source, target):
        if rules.code.search(side):
            return "code symbols"
        if _ADDRESS.search(side):
            return "address"
        if sum(c.isalpha() or c == " " for c in side) <= LETTER_SHARE * len(side):
            return "few letters"
    return None


def clean(
    raw: Iterable[tuple[str, str]], unit: str, prepare: Callable[[str], str] = normalise, rules: Rules = HELP
) -> tuple[list[tuple[str, str]], Steps]:
    """Return the distinct clean sentence pairs in order of appearance, and the counts at every step.

    Args:
        raw: aligned texts.
        unit: what ``raw`` is counted in, for the card.
        prepare: rewrites each side before it is cut into sentences.
        rules: what is dropped.
    """
    counts: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    kept: dict[tuple[str, str], None] = {}
    for source, target in raw:
        counts[unit] += 1
        for pair in split_together(prepare(source), prepare(target)):
            counts["sentence pairs"] += 1
            reason = rejected(*pair, rules)
            if reason:
                dropped[reason] += 1
                continue
            counts["clean pairs"] += 1
            kept.setdefault(pair)
    steps = [(name, counts[name]) for name in (unit, "sentence pairs")]
    steps += [(f"dropped: {reason}", count) for reason, count in dropped.most_common()]
    return list(kept), [*steps, ("clean pairs", counts["clean pairs"]), ("distinct pairs", len(kept))]
