"""Measurements to files: the table in three formats and the picture, beside the measurements."""

from __future__ import annotations

from pathlib import Path

from ablatable.analysis.complexity.measurements import FILE, Measurements, read
from ablatable.analysis.complexity.summary import Summary, summarise
from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record.files import write_atomic


def finished(folder: Path) -> Measurements:
    """The measurements in ``folder``.

    Raises:
        InputError: there are none, or not all yet.
    """
    path = folder / FILE
    made = read(path)
    if made is None:
        raise InputError(f"{display(path)}: no measurements to draw; run without --redraw to make them")
    if made.done < made.expected:
        raise InputError(
            f"{display(path)} holds {made.done} of {made.expected} measurements; run without --redraw to make the rest"
        )
    return made


def write(made: Measurements, folder: Path) -> tuple[Summary, list[Path]]:
    """Write table.md, table.csv, table.json and the picture into ``folder``; a pure function of the measurements."""
    from ablatable.analysis.complexity.figure import draw
    from ablatable.analysis.complexity.render import RENDERERS

    summary = summarise(made)
    paths: list[Path] = []
    for suffix, render in RENDERERS.items():
        write_atomic(folder / f"table.{suffix}", render(summary))
        paths.append(folder / f"table.{suffix}")
    return summary, paths + draw(made, folder)
