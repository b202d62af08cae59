"""Small Markdown tables that read well raw, in a terminal, too."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ablatable.report.markdown import escape


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """A table with padded cells, without a final newline.

    Args:
        heads: the headings.
        rows: a text for every heading each.
        left: numbers of the columns that are set flush left; the others hold numbers.
    """
    lines = [[escape(text).replace("|", r"\|") for text in line] for line in (heads, *rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(heads))]
    texts = [
        "| " + " | ".join(_padded(text, widths[i], i in left) for i, text in enumerate(line)) + " |" for line in lines
    ]
    rule = "|".join("-" * (width + 2) if i in left else "-" * (width + 1) + ":" for i, width in enumerate(widths))
    return "\n".join((texts[0], f"|{rule}|", *texts[1:]))


def _padded(text: str, width: int, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)
