"""The running text of a manual page, block by block, out of its man(7) source.

A manual page and its translation have the same blocks, so that blocks in the same place translate each
other. Examples, tables and whatever this reader does not know for sure become blocks without text: they hold
their place, and no half-read line gets into the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CHARACTERS = {
    "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "Bq": "„", "bq": "‚", "Fo": "«", "Fc": "»",
    "fo": "‹", "fc": "›", "em": "—", "en": "–", "hy": "-", "bu": "•", "co": "©", "rg": "®", "tm": "™", "de": "°",
    "mu": "×", "tmu": "×", "+-": "±", ">=": "≥", "<=": "≤", "!=": "≠", "->": "→", "<-": "←", "ha": "^", "ti": "~",
    "ga": "`", "aa": "´", "rs": "\\", "sl": "/", "ba": "|", "at": "@", "sh": "#", "Do": "$", "sc": "§", "ss": "ß",
    ":a": "ä", ":o": "ö", ":u": "ü", ":A": "Ä", ":O": "Ö", ":U": "Ü", ":i": "ï", "'e": "é", "`e": "è", "'a": "á",
    "'o": "ó", "^o": "ô", ",c": "ç", "12": "½", "14": "¼", "34": "¾", "*m": "μ", "u2026": "…",
}  # fmt: skip
"""Names of special characters, as in groff_char(7)."""
_SIMPLE = {"-": "-", "e": "\\", "~": " ", " ": " ", "0": " ", "'": "'", "`": "`", ".": ".", "\\": "\\"}
_NOTHING = frozenset("&/,:%)|^c")
_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^\]]*\]|\(..|.)|s[+-]?\d|\*?\[(?P<long>[^\]]*)\]|\*?\((?P<short>..)|\*(?P<string>.)|(?P<one>.))"
)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\ |[^ ])+)')
_COMMENT = re.compile(r'\\["#].*')
_FONTS = frozenset({"B", "I", "R", "SM", "SB"})
_TWO_FONTS = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
_PARAGRAPHS = frozenset({"PP", "P", "LP"})
_BREAKS = frozenset({"HP", "RS", "RE", "br", "sp"})
_SILENT = frozenset({"PD", "in", "ti", "ne", "ad", "na", "hy", "nh", "ft", "ps", "ll", "nr", "TH", "DT", "rm", "ta"})
_UNFILLED = {"nf": "fi", "EX": "EE", "TS": "TE", "EQ": "EN"}


@dataclass(frozen=True)
class Block:
    """One block of a page: the macro that opens it, and its text (None where it has none that can be read)."""

    kind: str
    text: str | None


def plain(text: str) -> str | None:
    """Return ``text`` without groff's escapes, or None where one is not known or a byte was not UTF-8."""
    known = "\ufffd" not in text

    def replaced(match: re.Match[str]) -> str:
        nonlocal known
        name: str | None = match["long"] or match["short"] or match["string"]
        if name is not None:
            found = _CHARACTERS.get(name)
        elif match["one"] is not None:
            found = "" if match["one"] in _NOTHING else _SIMPLE.get(match["one"])
        else:
            found = ""
        known = known and found is not None
        return found or ""

    result = _ESCAPE.sub(replaced, text)
    return result if known else None


def arguments(text: str) -> list[str]:
    """Split what follows a macro's name at spaces, outside double quotes."""
    return [quoted.replace('""', '"') or word for quoted, word in _ARGUMENT.findall(text)]


class _Reader:
    """Reads the lines of one page; ``blocks`` are the finished ones."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._kind = "start"
        self._parts: list[str] = []
        self._readable = True
        self._until: str | None = None
        self._tag = False

    def open(self, kind: str) -> None:
        """End the open block and begin another."""
        text = "".join(self._parts).strip()
        read = plain(text) if self._readable and text else None
        self.blocks.append(Block(self._kind, read or None))
        self._kind, self._parts, self._readable, self._tag = kind, [], True, False

    def line(self, line: str) -> None:
        """Read one line of the page's source."""
        if self._until is not None:
            if line.startswith(f".{self._until}"):
                self._until = None
                self.open("after")
        elif line[:1] in (".", "'"):
            macro, _, rest = line[1:].strip().partition(" ")
            self._control(macro, rest.strip())
        elif not line.strip():
            self.open("P")
        else:
            self._readable = self._readable and not line.startswith((" ", "\t"))  # laid out by hand
            self._text(line.strip())

    def _text(self, text: str) -> None:
        if self._tag:  # what .TP hangs its paragraph on: a name, not a sentence
            self._tag = False
            return
        self._parts.append(text.removesuffix("\\c") if text.endswith("\\c") else f"{text} ")

    def _control(self, macro: str, rest: str) -> None:
        if macro in _UNFILLED:
            self.open(macro)
            self._until = _UNFILLED[macro]
        elif macro in _PARAGRAPHS:
            self.open("P")
        elif macro in ("SH", "SS"):
            self.open(macro)
            if rest:
                self._text(" ".join(arguments(rest)))
                self.open(f"after {macro}")
        elif macro in ("TP", "TQ"):
            self.open(macro)
            self._tag = True
        elif macro == "IP" or macro in _BREAKS:
            self.open(macro)
        elif macro in _FONTS:
            if rest:
                self._text(" ".join(arguments(rest)))
        elif macro in _TWO_FONTS:
            self._text("".join(arguments(rest)))
        elif macro and macro not in _SILENT:
            self._readable = False


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in their order; the tags of ``.TP`` paragraphs are left out."""
    reader = _Reader()
    for line in page.rstrip().replace("\\\n", "").split("\n"):
        kept = _COMMENT.sub("", line)
        if kept.strip() not in ("", ".", "'") or kept == line:
            reader.line(kept.rstrip())
    reader.open("end")
    return reader.blocks


def sections(page: str) -> Iterator[list[Block]]:
    """Yield the blocks of each section, its heading first; what stands before the first heading is left out.

    Paragraphs without text at a section's end are left out too: the tools that translate add them.
    """
    section: list[Block] = []
    for block in [*blocks(page), Block("SH", None)]:
        if block.kind == "SH":
            while section and section[-1] == Block("P", None):
                section.pop()
            if section:
                yield section
            section = []
        elif not section:
            continue
        section.append(block)
