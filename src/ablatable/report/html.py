"""A table as one self-contained HTML page: no script, no font, nothing fetched."""

from __future__ import annotations

import re
from itertools import groupby

from ablatable.report.layout import Head, grid
from ablatable.report.model import Table

_SUBSCRIPT = re.compile(r"\b([A-Za-z]|eps)_([A-Za-z]+)\b")


def render(table: Table) -> str:
    """The page. Every text from a study or a record is escaped by the template."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ablatable.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    laid = grid(table).spanned()
    page = environment.get_template("table.html.jinja")
    return page.render(symbols=symbols, table=table, heads=laid.heads, over=_over(laid.heads), blocks=laid.blocks)


def symbols(text: str) -> list[tuple[str, str]]:
    """Split a label into (text, subscript) pairs: ``d_model`` is ``[("d", "model")]``."""
    pairs: list[tuple[str, str]] = []
    end = 0
    for match in _SUBSCRIPT.finditer(text):
        base = "\N{GREEK SMALL LETTER EPSILON}" if match[1] == "eps" else match[1]
        pairs += [(text[end : match.start()], ""), (base, match[2])]
        end = match.end()
    pairs.append((text[end:], ""))
    return [pair for pair in pairs if any(pair)]


def _over(heads: tuple[Head, ...]) -> list[tuple[str, int]]:
    """The upper line of headings: (text, columns it spans)."""
    return [(name, len(list(members))) for name, members in groupby(heads, key=lambda head: head.over)]
