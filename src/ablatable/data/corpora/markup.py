"""Paragraphs of a LibreOffice help page by their id.

A page offers alternatives inside a paragraph ("Command" on a Mac, "Ctrl" elsewhere) as the children of a
``switchinline`` span. A reader sees one of them, and so does the corpus: the default child where there is
one, the first child otherwise. Both languages share the structure, so both sides choose the same
alternative.

The pages are machine-written and well-formed, so one regular expression reads them, at four times the speed
of ``html.parser``.
"""

from __future__ import annotations

import html
import re

_TOKEN = re.compile(
    r"<!--.*?-->"
    r"|<(?P<close>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9]*)(?P<attributes>(?:[^>\"']|\"[^\"]*\"|'[^']*')*)>"
    r"|(?P<text>[^<]+|<)",
    re.DOTALL,
)
_OPENING = re.compile(
    r"<!--.*?-->|<(?P<tag>p|h[1-6])\b(?P<attributes>(?:[^>\"']|\"[^\"]*\"|'[^']*')*)>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_BLOCKS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6"})


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): html.unescape(double or single) for name, double, single in _ATTRIBUTE.findall(text)}


class _Frame:
    """One open ``span``: its text so far and, for a switch, the finished (is default, text) alternatives."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.text: list[str] = []
        self.alternatives: list[tuple[bool, str]] = []

    def chosen(self) -> str:
        """Return what a reader would see of this span."""
        if self.kind != "switch" or not self.alternatives:
            return "".join(self.text)
        return next((text for default, text in self.alternatives if default), self.alternatives[0][1])


class _Block:
    """An open paragraph or heading and the spans open inside it."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._frames = [_Frame("block")]

    def add(self, text: str) -> None:
        self._frames[-1].text.append(text)

    def open_span(self, style: str) -> None:
        if style == "switchinline":
            kind = "switch"
        elif self._frames[-1].kind == "switch":
            kind = "alternative" if style else "default"
        else:
            kind = "plain"
        self._frames.append(_Frame(kind))

    def close_span(self) -> None:
        if len(self._frames) == 1:
            return
        closed = self._frames.pop()
        if closed.kind in ("alternative", "default"):
            self._frames[-1].alternatives.append((closed.kind == "default", closed.chosen()))
        else:
            self._frames[-1].text.append(closed.chosen())

    def finish(self) -> str:
        while len(self._frames) > 1:
            self.close_span()
        return html.unescape(self._frames[0].chosen())


def _read_block(page: str, block: _Block, start: int) -> int:
    """Fill ``block`` with what follows ``start``; returns where it ends, before the tag of a next block."""
    for token in _TOKEN.finditer(page, start):
        tag = (token["tag"] or "").lower()
        if tag in _BLOCKS:
            if not token["close"]:
                return token.start()
            if tag == block.tag:
                return token.end()
        elif token["text"]:
            block.add(token["text"])
        elif tag == "br":
            block.add(" ")
        elif tag == "span" and token["close"]:
            block.close_span()
        elif tag == "span":
            block.open_span(_attributes(token["attributes"]).get("class", ""))
    return len(page)


def paragraphs(page: str) -> dict[str, str]:
    """Return id -> text of the ``p`` and ``h1``..``h6`` elements of one page that have an id and a text.

    The first occurrence of an id wins; elements whose class contains "code" are left out.
    """
    found: dict[str, str] = {}
    position = 0
    while opening := _OPENING.search(page, position):
        position = opening.end()
        attributes = _attributes(opening["attributes"] or "")
        name = attributes.get("id")
        if not name or "code" in attributes.get("class", ""):
            continue
        block = _Block(opening["tag"].lower())
        position = _read_block(page, block, position)
        text = block.finish()
        if text.strip():
            found.setdefault(name, text)
    return found
