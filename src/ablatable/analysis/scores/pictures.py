"""Pictures of footnote 4: the variance of scores against d_k, what softmax makes of it, and a run's own heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ablatable.analysis.intervals import Interval
from ablatable.analysis.scores.components import SCORES, Components, Saturation
from ablatable.analysis.scores.initial import Initial
from ablatable.analysis.scores.trained import EVEN, HeadScores, Trained
from ablatable.analysis.style import REFERENCE, drawing, figure, save, series
from ablatable.nn.recorder import KINDS, NAMES, Kind

_SAID = {"none": "q·k", "1/sqrt(d_k)": "q·k / √d_k", "additive": "additive, v·tanh(q + k)", "cosine": "cosine"}
_SHOWN: tuple[tuple[Kind, int, str], ...] = (
    ("cross", 2, "cross, layer 2"),
    ("encoder-self", 1, "encoder self, layer 1"),
    ("encoder-self", 2, "encoder self, layer 2"),
)


def said(score: str) -> str:
    """A score or a scale as a formula."""
    return _SAID.get(score, f"q·k, scale {score}")


def draw_variance(components: Components, initial: Initial, folder: Path) -> list[Path]:
    """Variance against d_k: of independent components beside the model's own projections."""
    with drawing():
        made = figure(11, 4.8)
        left, right = made.subplots(1, 2)
        made.suptitle(
            "The variance of attention scores against the width of a head (footnote 4)\n"
            f"bars: {components.level:.0%} intervals, all of a panel at once"
        )
        _draw_components(left, components)
        _draw_initial(right, initial)
        return save(made, folder, "variance")


def _draw_components(axes: Axes, components: Components) -> None:
    widths = sorted({one.d_k for one in components.variances})
    axes.plot(widths, widths, **REFERENCE, label="derived: d_k and 1")
    axes.plot(widths, [1.0] * len(widths), **REFERENCE)
    cases = dict.fromkeys((one.score, one.distribution) for one in components.variances)
    for index, (score, distribution) in enumerate(
        case for case in cases if case[0] != "1/sqrt(d_k)" or case[1] == "normal"
    ):
        found = [one for one in components.variances if (one.score, one.distribution) == (score, distribution)]
        _points(
            axes, [one.d_k for one in found], [one.variance for one in found], index, f"{said(score)}, {distribution}"
        )
    axes.set_title(f"Independent components, {components.pairs:,} pairs each")
    _log_widths(axes, widths)
    axes.set_ylabel("variance of the score")
    axes.legend(loc="upper left")


def _draw_initial(axes: Axes, initial: Initial) -> None:
    widths = sorted({one.d_k for one in initial.variances})
    axes.plot(widths, widths, **REFERENCE, label="footnote 4: d_k")
    for index, (kind, layer, name) in enumerate(_SHOWN):
        found = [one for one in initial.variances if (one.kind, one.layer) == (kind, layer)]
        if not found:
            continue
        style = series(index)
        axes.plot(
            widths, [one.derived for one in found], color=style["color"], linewidth=1, linestyle=style["linestyle"]
        )
        factor = sum(one.derived / one.d_k for one in found) / len(found)
        measured = [Interval(one.measured, one.derived * one.ratio.low, one.derived * one.ratio.high) for one in found]
        _points(axes, widths, measured, index, f"{name}; derived (line): {factor:.2f} d_k", joined=False)
    axes.set_title(f"The model's own projections at initialisation, d_model {initial.d_model}")
    _log_widths(axes, widths)
    axes.set_ylabel("mean of (q·k)²")
    axes.legend(loc="upper left")


def draw_softmax(components: Components, folder: Path) -> list[Path]:
    """What softmax makes of scores over keys of independent components, against d_k."""
    keys = components.saturation[0].keys
    panels: list[tuple[str, str, Callable[[Saturation], Interval], float]] = [
        ("Positions attended to", f"exp(entropy), of {keys} keys", lambda one: one.effective, keys),
        ("Largest weight", "mean over queries", lambda one: one.largest, 1 / keys),
        ("Gradient through softmax", "‖diag(w) - w wᵀ‖, Frobenius", lambda one: one.gradient, (keys - 1) ** 0.5 / keys),
    ]
    with drawing():
        made = figure(11, 4.4)
        made.suptitle(
            "Independent normal components: without 1/√d_k, wide heads saturate the softmax\n"
            "bars: 95% interval of each mean"
        )
        for axes, (title, label, value, even) in zip(made.subplots(1, 3), panels, strict=True):
            widths = sorted({one.d_k for one in components.saturation})
            axes.axhline(even, **REFERENCE, label="even weights")
            for index, score in enumerate(SCORES):
                found = [one for one in components.saturation if one.score == score]
                _points(axes, [one.d_k for one in found], [value(one) for one in found], index, said(score))
            axes.set_title(title)
            axes.set_ylabel(label)
            axes.set_xscale("log", base=2)
            _width_ticks(axes, widths[::2])
            axes.set_ylim(bottom=0)
        handles, labels = made.axes[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4)
        return save(made, folder, "softmax")


def draw_run(trained: Trained, folder: Path) -> list[Path]:
    """A run's heads layer by layer: variance of scores, positions attended to, gradient through softmax."""
    with drawing():
        return save(run_figure(trained), folder, "run")


def run_figure(trained: Trained) -> Figure:
    """The figure of :func:`draw_run`: a column for each attention, the panels of a row on one axis."""
    kinds: list[Kind] = [kind for kind in KINDS if any(one.kind == kind for one in trained.trained)]
    made = figure(1.5 + 3.6 * len(kinds), 9)
    made.suptitle(
        f"Run {trained.run}: {said(trained.own)}, d_k = {trained.d_k}\n"
        f"every mark is a head, on {trained.sentences} development sentences"
    )
    grid = made.subplots(3, len(kinds), squeeze=False, sharey="row")
    for column, kind in enumerate(kinds):
        before, after = ([one for one in heads if one.kind == kind] for heads in (trained.initial, trained.trained))
        _draw_heads(grid[0, column], before, after)
        grid[0, column].set_title(NAMES[kind])
        for row, measure in ((1, "effective"), (2, "gradient")):
            _draw_measure(grid[row, column], after, measure)
        grid[2, column].set_xlabel("layer")
    for row, label in enumerate(("variance of the score", "positions attended to", "gradient through softmax")):
        grid[row, 0].set_ylabel(label)
        handles, labels = grid[row, 0].get_legend_handles_labels()
        grid[row, -1].legend(handles, labels, loc="center left", bbox_to_anchor=(1.02, 0.5))
    for row in (1, 2):
        grid[row, 0].set_ylim(bottom=0)  # fixes the top too, for the whole row: all must have been drawn
    return made


def _draw_heads(axes: Axes, before: Sequence[HeadScores], after: Sequence[HeadScores]) -> None:
    for index, (name, heads) in enumerate((("initial weights", before), ("trained weights", after))):
        _marks(axes, heads, [one.score_variance for one in heads], index, len(("initial", "trained")), name)
    axes.set_yscale("log")
    _layer_ticks(axes, after)


def _draw_measure(axes: Axes, heads: Sequence[HeadScores], measure: str) -> None:
    names = list(heads[0].softmax)
    for index, name in enumerate(names):
        shown = "even weights" if name == EVEN else f"{said(name)}{', as trained' if index == 0 else ', same q and k'}"
        _marks(axes, heads, [one.softmax[name][measure] for one in heads], index, len(names), shown)
    _layer_ticks(axes, heads)


def _marks(axes: Axes, heads: Sequence[HeadScores], values: Sequence[float], index: int, of: int, label: str) -> None:
    beside = 0.22 * (index - (of - 1) / 2)
    style = series(index)
    axes.plot(
        [one.layer + beside for one in heads],
        values,
        linestyle="none",
        marker=style["marker"],
        color=style["color"],
        markerfacecolor="none" if index == 0 and of == len(("initial", "trained")) else style["color"],
        alpha=0.8,
        label=label,
    )


def _layer_ticks(axes: Axes, heads: Sequence[HeadScores]) -> None:
    axes.set_xticks(sorted({one.layer for one in heads}))
    axes.set_xlim(0.5, max(one.layer for one in heads) + 0.5)


def _points(
    axes: Axes, x: Sequence[float], found: Sequence[Interval], index: int, label: str, joined: bool = True
) -> None:
    style: dict[str, Any] = series(index)
    if not joined:
        style["linestyle"] = "none"
    estimates = [one.estimate for one in found]
    ends = [[one.estimate - one.low for one in found], [one.high - one.estimate for one in found]]
    axes.errorbar(x, estimates, yerr=ends, label=label, capsize=2, linewidth=1.2, **style)


def _log_widths(axes: Axes, widths: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _width_ticks(axes, widths)


def _width_ticks(axes: Axes, widths: Sequence[int]) -> None:
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.tick_params(axis="x", which="minor", bottom=False)
    axes.set_xlabel("d_k")
