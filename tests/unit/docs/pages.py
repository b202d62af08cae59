"""Code blocks of a Markdown page, and what its diffs do to files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^( *)```(\w*) ?(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block; ``path`` is the second word after the fence, the file it is about."""

    language: str
    path: str
    text: str


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page; those in a list lose its indentation."""
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one[2], one[3], _without(one[1], one[4])) for one in found]


def _without(indent: str, text: str) -> str:
    return "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def apply(diff: Block, root: Path) -> None:
    """Change the file a diff names; every piece between ``@@`` must fit in exactly one place."""
    file = root / diff.path
    text = file.read_text(encoding="utf-8")
    for piece in diff.text.split("@@\n"):
        old, new = ("".join(_side(piece, signs)) for signs in (" -", " +"))
        assert text.count(old) == 1, f"{diff.path} has {text.count(old)} places like\n{textwrap.indent(old, '    ')}"
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def _side(piece: str, signs: str) -> Iterator[str]:
    for line in piece.splitlines(keepends=True):
        assert line[0] in " +-", f"neither context nor change: {line!r}"
        if line[0] in signs:
            yield line[1:]
