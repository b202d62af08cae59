"""Descriptions of Debian's packages in two languages, from apt's index, aligned by the original's checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ablatable.data.corpora.apt_index import fetch_descriptions
from ablatable.data.corpora.cleaning import HELP, Rules, clean, normalise
from ablatable.data.corpora.corpus import Pair
from ablatable.data.corpora.harvest import Harvest
from ablatable.data.corpora.storage import Say

RECIPE = 1
_RULES = Rules(code=re.compile(rf"{HELP.code.pattern}|\ufffd"))
"""U+FFFD: some descriptions went through a wrong encoding once."""
_FIELD = re.compile(r"^(?P<name>[A-Za-z0-9-]+): (?P<value>.*(?:\n[ \t].*)*)", re.MULTILINE)
_BULLET = re.compile(r"\s+(?:[-*+•·o]|\d+[.)])\s+(?=\S)")
_WRAPPED = re.compile(r"(?<=\w)- (?=\w)(?!(?:und|oder|bzw|sowie|bis|als|wie|aber|noch|and|or|to|but)\b)")
_PARTED = re.compile(r" (?:--?|–) ")


@dataclass(frozen=True)
class Piece:
    """One paragraph, list item or block laid out by hand (which has no text) of a description."""

    kind: str
    text: str


def descriptions(index: str) -> dict[str, str]:
    """Return checksum of the original -> description, of one Translation index; the first of a checksum wins."""
    found: dict[str, str] = {}
    for stanza in index.split("\n\n"):
        fields = {match["name"]: match["value"] for match in _FIELD.finditer(stanza)}
        checksum = fields.get("Description-md5")
        text = next((value for name, value in fields.items() if re.fullmatch(r"Description-\w\w", name)), None)
        if checksum and text:
            found.setdefault(checksum, text)
    return found


def pieces(description: str) -> list[list[Piece]]:
    """Return the paragraphs of a description, each a list of its pieces; the first is the one-line synopsis.

    Debian's policy (5.6.13): a line that starts with one space is running text, one that starts with more is
    laid out by hand (in practice: list items), and ``.`` alone is an empty line.
    """
    synopsis, *lines = description.split("\n")
    paragraphs: list[list[Piece]] = [[Piece("synopsis", synopsis)], []]
    for line in lines:
        if line.strip() == ".":
            paragraphs.append([])
        else:
            _add(paragraphs[-1], line)
    return [paragraph for paragraph in paragraphs if paragraph]


def _add(paragraph: list[Piece], line: str) -> None:
    bullet = _BULLET.match(line)
    deep = line.startswith("  ")
    if bullet:
        paragraph.append(Piece("item", line[bullet.end() :]))
    elif paragraph and paragraph[-1].kind == ("item" if deep else "text"):
        begun = paragraph.pop()
        paragraph.append(Piece(begun.kind, f"{begun.text} {line.strip()}"))
    else:
        paragraph.append(Piece("laid out", "") if deep else Piece("text", line.strip()))


def paired(source: Mapping[str, str], target: Mapping[str, str]) -> Iterator[Pair]:
    """Yield the pieces of the descriptions both indexes hold, where their paragraphs have the same pieces.

    A synopsis that names the product before a dash on one side only ("Development files for libx" became
    "Bibliothek für X - Entwicklungsdateien") was rewritten, not translated, and is left out.
    """
    for checksum in sorted(source.keys() & target.keys()):
        left, right = pieces(source[checksum]), pieces(target[checksum])
        if len(left) != len(right):
            continue
        for ours, theirs in zip(left, right, strict=True):
            if [piece.kind for piece in ours] != [piece.kind for piece in theirs]:
                continue
            for one, other in zip(ours, theirs, strict=True):
                rewritten = one.kind == "synopsis" and bool(_PARTED.search(one.text)) != bool(
                    _PARTED.search(other.text)
                )
                if one.text and not rewritten:
                    yield one.text, other.text


def unwrapped(text: str) -> str:
    """Normalise ``text`` and close the gaps that lines broken at a hyphen left ("Unix- Systeme")."""
    return _WRAPPED.sub("-", normalise(text))


def harvest(source: str, target: str, cache: Path, say: Say) -> Harvest:
    """Fetch, align and clean the descriptions in two languages.

    Raises:
        InputError: no apt, no network, or no such translations.
        RunFailed: the disk is full.
    """
    indexes = fetch_descriptions([source, target], cache / "debian" / f"descriptions-{source}-{target}", say)
    say("reading and cleaning the descriptions")
    texts: dict[str, dict[str, str]] = {source: {}, target: {}}
    for index in indexes:
        for language, text in index.texts.items():
            texts[language] |= descriptions(text)
    pairs, steps = clean(paired(texts[source], texts[target]), "paragraph pairs", unwrapped, _RULES)
    return Harvest(
        pairs,
        steps,
        {f"descriptions of {index.name}": index.version for index in indexes},
        "descriptions of Debian's packages, apt index of " + ", ".join(index.name for index in indexes),
        "the packages' own, mixed",
    )
