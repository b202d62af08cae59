"""Does what is committed equal what the records say?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ablatable.errors import RunFailed


def check(folder: Path, files: Mapping[str, str]) -> None:
    """Compare committed files with freshly made ones, byte for byte.

    Raises RunFailed that names each file which is missing or differs, with the first line that does.
    """
    faults = [fault for name, content in files.items() if (fault := _fault(folder / name, content)) is not None]
    if faults:
        raise RunFailed(f"{'; '.join(faults)}: publish the table again, or restore the file")


def _fault(path: Path, content: str) -> str | None:
    try:
        committed = path.read_bytes()
    except FileNotFoundError:
        return f"{path} does not exist"
    if committed == content.encode("utf-8"):
        return None
    lines = committed.decode("utf-8", errors="replace").split("\n")
    number, line = _first_change(lines, content.split("\n"))
    return f"{path} differs from its records, first in line {number} ({line[:100]!r})"


def _first_change(committed: list[str], made: list[str]) -> tuple[int, str]:
    pairs = enumerate(zip(committed, made, strict=False), start=1)
    shorter = min(len(committed), len(made))
    number = next((i for i, (old, new) in pairs if old != new), shorter + 1)
    line = committed[number - 1] if number <= len(committed) else "end of file"
    return number, line
