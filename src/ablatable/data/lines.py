"""Reading text one sentence a line, where only a line feed ends a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ablatable.errors import InputError


def read_lines(path: Path, first: int | None = None) -> Iterator[str]:
    r"""Yield the first lines of a UTF-8 file without their ``\n``.

    U+2028, U+0085, form feeds and carriage returns are text: ``str.splitlines`` and universal newlines would
    break there, and parallel files would drift apart.

    Raises:
        InputError: the file is not UTF-8.
    """
    with path.open(encoding="utf-8", newline="\n") as file:
        try:
            for line in islice(file, first):
                yield line.removesuffix("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 text ({error.reason}); convert it to UTF-8") from error


def read_pairs(source: Path, target: Path, first: int | None = None) -> Iterator[tuple[str, str]]:
    """Yield aligned lines of two files.

    Raises:
        InputError: the files have different numbers of lines; the message names both.
    """
    sources, targets = read_lines(source, first), read_lines(target, first)
    pairs = 0
    for source_line in sources:
        target_line = next(targets, None)
        if target_line is None:
            _refuse_counts(source, target, pairs + 1 + _rest(sources), pairs)
        else:
            pairs += 1
            yield source_line, target_line
    if extra := _rest(targets):
        _refuse_counts(source, target, pairs, pairs + extra)


def _rest(lines: Iterator[str]) -> int:
    return sum(1 for _ in lines)


def _refuse_counts(source: Path, target: Path, source_lines: int, target_lines: int) -> None:
    raise InputError(
        f"{source} has {source_lines} lines and {target} has {target_lines}; aligned text needs the same number in both"
    )
