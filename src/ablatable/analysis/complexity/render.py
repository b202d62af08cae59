"""The summary as text for a terminal, Markdown, CSV or JSON; the same summary gives the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from ablatable.analysis.complexity.sheets import flat, notes, sheets
from ablatable.analysis.complexity.summary import Summary
from ablatable.analysis.output import encode
from ablatable.report.plain_table import markdown_table

TITLE = "Table 1 of the paper, measured"


def text(summary: Summary, width: int) -> str:
    """For a terminal of so many columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(file=io.StringIO(), width=width, force_terminal=False, highlight=False)
    for sheet in sheets(summary):
        table = Table(title=sheet.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
        for place, head in enumerate(sheet.heads):
            table.add_column(head, justify="left" if place in sheet.left else "right")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)
    for note in notes(summary):
        console.print(note)
    drawn = console.file
    assert isinstance(drawn, io.StringIO)
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines())


def markdown(summary: Summary) -> str:
    """A page."""
    tables = [f"## {one.title}\n\n{markdown_table(one.heads, one.rows, one.left)}" for one in sheets(summary)]
    said = "\n".join(f"- {note}" for note in notes(summary))
    return "\n\n".join([f"# {TITLE}", *tables, "## How to read it", said]) + "\n"


def comma_separated(summary: Summary) -> str:
    """Every exponent, one a line."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(flat(summary))
    return out.getvalue()


RENDERERS: dict[str, Callable[[Summary], str]] = {"md": markdown, "csv": comma_separated, "json": encode}
"""What is written to a file, by the file's suffix."""
