"""Example sentences of the dictionary Ding (GPL-2+), English and German, from a Debian package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ablatable.data.corpora import debian
from ablatable.data.corpora.cleaning import Rules, clean, normalise
from ablatable.data.corpora.corpus import Pair
from ablatable.data.corpora.harvest import Harvest
from ablatable.data.corpora.storage import Say
from ablatable.errors import InputError

RECIPE = 1
_PACKAGE = "trans-de-en"
_RULES = Rules(minimum_words=3)
_REMARK = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")
_SENTENCE = re.compile(r"[A-ZÄÖÜ0-9].*[.!?]")
_OPEN = re.compile(r"[/…~+*()]|\b(?:jd[nms]?|etw|sb|sth|smb|o\.s)\.")
"""Marks of choices and of places to fill: "jdn. um etw. bitten", "He arrived / appeared"."""


def plain(text: str) -> str:
    """Return one side of an entry without its remarks in brackets, and only the first of its alternatives."""
    previous = ""
    while previous != text:  # remarks may be nested
        previous, text = text, _REMARK.sub(" ", text)
    return normalise(text.partition(";")[0])


def paired(lines: Iterator[str]) -> Iterator[Pair]:
    """Yield the (English, German) entries that are whole sentences on both sides.

    A line holds German and English, parted by ``::``; either holds the word itself and its uses, parted by
    ``|``, in the same order.
    """
    for line in lines:
        german, separator, english = line.partition(" :: ")
        uses = german.split("|"), english.split("|")
        if line.startswith("#") or not separator or len(uses[0]) != len(uses[1]):
            continue
        for target, source in zip(*(map(plain, side) for side in uses), strict=True):
            sides = source, target
            if all(map(_SENTENCE.fullmatch, sides)) and not any(map(_OPEN.search, sides)):
                yield source, target


def harvest(cache: Path, say: Say) -> Harvest:
    """Fetch, parse and clean the dictionary.

    Raises:
        InputError: no apt, no network, or a package of another form.
        RunFailed: the disk is full.
    """
    packages = debian.fetch([_PACKAGE], cache / "debian", say)
    say("reading and cleaning the example sentences of Ding")
    files = debian.read_files(packages[0], "usr/share/trans", "de-en")
    if "de-en" not in files:
        raise InputError(f"{packages[0].path}: no dictionary in it, this release has another form; {debian.OTHERS}")
    pairs, steps = clean(paired(iter(files["de-en"].decode("utf-8").split("\n"))), "example sentences", rules=_RULES)
    return Harvest(
        pairs,
        steps,
        debian.versions(packages),
        "example sentences of Ding, " + debian.named(packages),
        "GPL-2+",
    )
