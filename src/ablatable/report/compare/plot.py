"""Learning curves as a picture, PNG and SVG, against updates and against tokens; readable in grey."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from ablatable.report.compare.model import Curve
from ablatable.report.compare.plot_text import AXES, at, tells_tokens

_HEIGHT = 3.4
_WIDTH = 9.0
"""Inches."""

_NOTE_WIDTH = 120
"""Characters of a line of the note."""


def save_curves(curves: Sequence[Curve], folder: Path, note: str | None = None) -> list[Path]:
    """Write ``curves.png`` and ``curves.svg``; a band spans the seeds of a side that has several.

    Args:
        curves: one a side; those without a validation are left out.
        folder: made where it is not there.
        note: printed above, such as that the curves do not compare.

    Raises:
        InputError: the folder can't be written.
        RunFailed: the disk is full.
    """
    from matplotlib.ticker import EngFormatter

    from ablatable.analysis.style import drawing, figure, save, series

    with drawing():
        made = figure(_WIDTH, _HEIGHT + 0.22 * len(curves))
        panels = made.subplots(1, len(AXES), sharey=True)
        for panel, (axis, label) in zip(panels, AXES.items(), strict=True):
            for index, curve in enumerate(curves):
                if not curve.points or (axis == "target_tokens" and not tells_tokens(curve)):
                    continue
                style, places = series(index), [at(point, axis) for point in curve.points]
                panel.plot(places, [point.nll for point in curve.points], label=_label(curve), **style)
                if curve.seeds > 1:
                    low, high = [point.low for point in curve.points], [point.high for point in curve.points]
                    panel.fill_between(places, low, high, color=style["color"], alpha=0.15, linewidth=0)
            panel.set_xlabel(label)
            panel.set_xlim(left=0)
            panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        panels[0].set_ylabel("validation NLL (nats/token)")
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=1)
        if note is not None:
            made.suptitle(fill(note, _NOTE_WIDTH), fontsize=9)
        return save(made, folder, "curves")


def _label(curve: Curve) -> str:
    seeds = f" (mean of {curve.seeds} seeds, band: all)" if curve.seeds > 1 else ""
    return f"{curve.letter} {curve.name}{seeds}"
