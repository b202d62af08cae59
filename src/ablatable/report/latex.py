"""A table as LaTeX to paste into an appendix: booktabs rules, multirow groups, notes below in small print."""

from __future__ import annotations

import re
from itertools import groupby

from ablatable.report.layout import Cell, Grid, Head, grid
from ablatable.report.model import Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"$\sim$",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{GREEK CAPITAL LETTER DELTA}": r"$\Delta$",
    "\N{GREEK SMALL LETTER EPSILON}": r"$\epsilon$",
}
_SYMBOL = re.compile(r"\b(?:([A-Za-z]|eps)_([A-Za-z]+)|([Nh]))\b(?![\w./-])")


def render(table: Table) -> str:
    """A ``table*`` environment; a comment says which packages it needs."""
    laid = grid(table).spanned()
    lines = [
        r"% needs \usepackage{booktabs,multirow,graphicx}",
        r"\begin{table*}",
        r"\centering",
        rf"\caption{{{_caption(table)}}}",
        rf"\label{{tab:{table.name}-{table.scale}}}",
        r"\vspace{1ex}",
        r"\setlength{\tabcolsep}{3.5pt}",
        r"\resizebox{\textwidth}{!}{%",
        *_tabular(laid),
        "}",
        *_below(table),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def label(text: str) -> str:
    """A heading or row name with its symbols as in the paper: d_model, eps_ls, N and h in mathematics."""
    pieces: list[str] = []
    end = 0
    for match in _SYMBOL.finditer(text):
        pieces += [escape(text[end : match.start()]), _symbol(match)]
        end = match.end()
    return "".join(pieces) + escape(text[end:])


def _symbol(match: re.Match[str]) -> str:
    base, below, single = match.groups()
    if single is not None:
        return f"${single}$"
    subscript = below if len(below) == 1 else rf"\mathrm{{{below}}}"
    symbol = r"\epsilon" if base == "eps" else base
    return f"${symbol}_{{{subscript}}}$"


def _caption(table: Table) -> str:
    source = f" Paper: {table.source}." if table.source else ""
    question = f" {table.question}" if table.question else ""
    return escape(f"{table.title} (scale {table.scale}; {table.tuning}).{question}{source}")


def _tabular(laid: Grid) -> list[str]:
    alignment = "".join("l" if head.kind in ("group", "name", "sign") else "r" for head in laid.heads)
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", *_headings(laid.heads)]
    for block, rows in laid.blocks:
        lines.append(r"\midrule")
        for i, row in enumerate(rows):
            group = _group(block, len(rows)) if i == 0 else ""
            lines.append(" & ".join([group, *(_cell(cell) for cell in row)]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}%"]


def _headings(heads: tuple[Head, ...]) -> list[str]:
    over: list[str] = []
    rules: list[str] = []
    column = 1
    for name, members in groupby(heads, key=lambda head: head.over):
        width = len(list(members))
        over.append(rf"\multicolumn{{{width}}}{{c}}{{{label(name)}}}" if name else " & " * (width - 1))
        if name:
            rules.append(rf"\cmidrule(lr){{{column}-{column + width - 1}}}")
        column += width
    lines = [" & ".join(over) + r" \\", " ".join(rules)] if rules else []
    return [*lines, " & ".join(label(head.label) for head in heads) + r" \\"]


def _group(text: str, rows: int) -> str:
    if not text:
        return ""
    return rf"\multirow{{{rows}}}{{*}}{{{escape(text)}}}" if rows > 1 else escape(text)


def _cell(cell: Cell) -> str:
    text = label(cell.text) if cell.kind == "name" else escape(cell.text)
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    if cell.markers:
        text += rf"\textsuperscript{{{','.join(cell.markers)}}}"
    return rf"\multicolumn{{{cell.span}}}{{l}}{{{text}}}" if cell.span > 1 else text


def _below(table: Table) -> list[str]:
    notes = [rf"\textsuperscript{{{marker}}} {escape(text)}" for marker, text in table.notes]
    texts = [*notes, *(escape(text) for text in table.footnotes)]
    paragraphs = [rf"{text}\par" for text in texts]
    return [r"\par\vspace{1ex}", r"\begin{minipage}{\textwidth}\footnotesize", *paragraphs, r"\end{minipage}"]
