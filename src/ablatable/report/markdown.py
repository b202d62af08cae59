"""A table as Markdown that reads well raw, in a terminal, too."""

from __future__ import annotations

import re

from ablatable.report.layout import Cell, Grid, Head, grid
from ablatable.report.model import Table

_SPECIAL = re.compile(r"([\\`*<>]|(?<!\w)_|_(?!\w)|\](?=[(\[:])|~(?=.*~))")


def render(table: Table) -> str:
    """The table, its notes and footnotes; ends in one newline."""
    parts = [f"## {escape(table.title)}"]
    if table.question:
        parts.append(f"*{escape(table.question)}*")
    parts.append(_subtitle(table))
    parts.append(_grid(grid(table)))
    if table.notes:
        parts.append("\n".join(f"- <sup>{marker}</sup> {escape(text)}" for marker, text in table.notes))
    parts.append("\n".join(f"- {escape(text)}" for text in table.footnotes))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown prints as it is; only what would start markup is escaped, so it reads well raw."""
    return _SPECIAL.sub(r"\\\1", text)


def _in_table(text: str) -> str:
    return escape(text).replace("|", r"\|")


def _subtitle(table: Table) -> str:
    source = f" Paper: {table.source}." if table.source else ""
    return escape(f"Study {table.name}, scale {table.scale}; {table.tuning}.{source}")


def _grid(laid: Grid) -> str:
    with_groups = any(label for label, _ in laid.blocks)
    heads = laid.heads if with_groups else laid.heads[1:]
    lines = [[_in_table(head.alone) for head in heads]]
    for label, rows in laid.blocks:
        for i, row in enumerate(rows):
            group = [_in_table(label) if i == 0 else ""] if with_groups else []
            lines.append(group + [_cell(cell) for cell in row])
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    rule = "|" + "|".join(_rule(head, width) for head, width in zip(heads, widths, strict=True)) + "|"
    texts = [_line(line, heads, widths) for line in lines]
    return "\n".join([texts[0], rule, *texts[1:]])


def _line(cells: list[str], heads: tuple[Head, ...], widths: list[int]) -> str:
    padded = [
        text.ljust(width) if _is_left(head) else text.rjust(width)
        for text, head, width in zip(cells, heads, widths, strict=True)
    ]
    return "| " + " | ".join(padded) + " |"


def _rule(head: Head, width: int) -> str:
    return "-" * (width + 2) if _is_left(head) else "-" * (width + 1) + ":"


def _is_left(head: Head) -> bool:
    return head.kind in ("group", "name", "sign")


def _cell(cell: Cell) -> str:
    text = _in_table(cell.text)
    if cell.bold:
        text = f"**{text}**"
    return text + (f" <sup>{','.join(cell.markers)}</sup>" if cell.markers else "")
