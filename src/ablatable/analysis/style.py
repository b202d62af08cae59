"""How every picture looks, and how it is written: readable in grey, nothing clipped, the same bytes each time.

Series differ by marker and dash as well as by colour, and colours by lightness. Matplotlib is used without pyplot, so
that no window system or global figure is involved; it is imported with this module, which commands import when called.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ablatable.record.files import write_atomic

FORMATS = ("png", "svg")
"""PNG for a talk, SVG for a page."""

SEQUENTIAL = "Blues"
"""Colours of a map from nothing (white) to most (dark): its lightness only falls, so it prints in grey."""

_NO_GLYPH = "Glyph .* missing from font"

REFERENCE: dict[str, Any] = {"color": "0.35", "linewidth": 1.0, "linestyle": (0, (1, 1.5)), "zorder": 1}
"""The line that theory predicts, behind what was measured."""

_RC: dict[str, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so text has the same width everywhere
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.markersize": 5,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "ablatable",  # ids in an SVG are random without it
}
_SERIES: tuple[dict[str, Any], ...] = (
    {"color": "#08306b", "linestyle": "-", "marker": "o"},
    {"color": "#d95f0e", "linestyle": "--", "marker": "s"},
    {"color": "#41ab5d", "linestyle": "-.", "marker": "^"},
    {"color": "#4a1486", "linestyle": ":", "marker": "D"},
    {"color": "#8c6d1f", "linestyle": (0, (5, 1, 1, 1, 1, 1)), "marker": "v"},
    {"color": "#636363", "linestyle": (0, (8, 2)), "marker": "P"},
    {"color": "#ae017e", "linestyle": "-", "marker": "x"},
    {"color": "#02818a", "linestyle": "--", "marker": "*"},
)


def series(index: int) -> dict[str, Any]:
    """Colour, dash and marker of the series of that number, for ``plot`` or ``errorbar``; they repeat after eight."""
    return dict(_SERIES[index % len(_SERIES)])


@contextmanager
def drawing() -> Generator[None, None, None]:
    """Make and save figures inside: matplotlib looks its settings up at both times."""
    with cast(Any, matplotlib).rc_context(_RC):  # its stub lists every key as a type of its own
        yield


def figure(width: float, height: float) -> Figure:
    """A figure of that size (inches) that makes room for every label by itself."""
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def of_run(title: str, run: str | None) -> str:
    """The title of a picture, with the run it is of where it is one's."""
    return title if run is None else f"{title}\nrun {run}"


def save(made: Figure, folder: Path, name: str) -> list[Path]:
    """Write ``name.png`` and ``name.svg`` into ``folder`` and return their paths.

    Raises:
        InputError: the folder can't be written.
        RunFailed: the disk is full.
    """
    paths = [folder / f"{name}.{format}" for format in FORMATS]
    for path in paths:
        drawn = io.BytesIO()
        metadata = {"Date": None} if path.suffix == ".svg" else None  # the day would make every file another
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_NO_GLYPH)  # once a character and picture; the box shows it
            made.savefig(drawn, format=path.suffix[1:], metadata=metadata)
        write_atomic(path, drawn.getvalue())
    return paths
