"""Manual pages of Linux and their German translation, from Debian packages, aligned block by block."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ablatable.data.corpora import debian
from ablatable.data.corpora.cleaning import Rules, clean
from ablatable.data.corpora.corpus import Pair
from ablatable.data.corpora.groff import Block, sections
from ablatable.data.corpora.harvest import Harvest
from ablatable.data.corpora.storage import Say

RECIPE = 1
_ENGLISH = ["manpages", "manpages-dev"]
_GERMAN = ["manpages-de", "manpages-de-dev"]
_ROOT = "usr/share/man"
_RULES = Rules(code=re.compile(r"[{}\[\]|<>=#\\]"))
"""Names of functions and constants, such as ``read()`` and ``O_CREAT``, are words of this text."""


def paired(source: str, target: str) -> Iterator[Pair]:
    """Yield the blocks of two pages that stand in the same place, in the sections that have the same blocks.

    A translation may end in a section more, which says who translated it.
    """
    left, right = list(sections(source)), list(sections(target))
    if not 0 <= len(right) - len(left) <= 1:
        return
    for ours, theirs in zip(left, right, strict=False):
        if [block.kind for block in ours] == [block.kind for block in theirs]:
            yield from _texts(ours, theirs)


def _texts(ours: list[Block], theirs: list[Block]) -> Iterator[Pair]:
    for one, other in zip(ours, theirs, strict=True):
        if one.text and other.text:
            yield one.text, other.text


def _pages(packages: list[debian.Package], folder: str) -> dict[str, str]:
    pages: dict[str, str] = {}
    for package in packages:
        for name, content in debian.read_files(package, folder, ".gz").items():
            pages[name] = gzip.decompress(content).decode("utf-8", errors="replace")
    return pages


def _all_paired(source: Mapping[str, str], target: Mapping[str, str]) -> Iterator[Pair]:
    for name in sorted(source.keys() & target.keys()):
        yield from paired(source[name], target[name])


def harvest(cache: Path, say: Say) -> Harvest:
    """Fetch, align and clean the pages.

    Raises:
        InputError: no apt, or no network.
        RunFailed: the disk is full.
    """
    packages = debian.fetch([*_ENGLISH, *_GERMAN], cache / "debian", say)
    say("reading and cleaning the manual pages")
    english = _pages(packages[: len(_ENGLISH)], _ROOT)
    german = _pages(packages[len(_ENGLISH) :], f"{_ROOT}/de")
    pairs, steps = clean(_all_paired(english, german), "block pairs", rules=_RULES)
    return Harvest(
        pairs,
        [("pages in both languages", len(english.keys() & german.keys())), *steps],
        debian.versions(packages),
        "manual pages of Linux, " + debian.named(packages),
        "the pages' own, mixed (GPL, BSD and others)",
    )
