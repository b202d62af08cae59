"""What a search found, drawn: history, importance, one setting at a time, pairs of them, the front of two objectives.

Points are completed trials; what was pruned, failed or skipped has no value and is not drawn.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ablatable.config.layers import said
from ablatable.config.tree import leaves
from ablatable.errors import InputError
from ablatable.record.files import disk_errors
from ablatable.study.sweep.domains import Choice, Domain
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.schema import COSTS, Objective
from ablatable.study.sweep.status import front
from ablatable.study.sweep.trials import Tried

if TYPE_CHECKING:
    import optuna
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST = 2
"""Completed trials below which there is nothing to see."""
_LOG_FROM = 8.0
"""Listed numbers that span so much stand evenly in the logarithm."""
_MOST_TICKS = 8
_INK, _QUIET, _BEST = "#1f4e79", "#9bb7d4", "#c0392b"


@dataclass(frozen=True)
class _Drawn:
    """One plot: its file's name, and what draws it."""

    name: str
    draw: Callable[[Figure], None]
    size: tuple[float, float]


def write_plots(study: optuna.Study, trials: Sequence[Tried], plan: Plan, folder: Path) -> list[Path]:
    """Draw a sweep's trials as PNG and SVG into a folder; gives the files.

    Raises:
        InputError: fewer than two completed trials, or a folder that can't be written.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    done = [trial for trial in trials if trial.state == "completed"]
    if len(done) < _LEAST:
        raise InputError(
            f"sweep '{plan.sweep.name}' has {len(done)} completed trials, and a plot needs {_LEAST}; run it first"
        )
    written: list[Path] = []
    # The same trials give the same bytes: no date, no random ids.
    with mpl.rc_context({"svg.hashsalt": plan.sweep.name, "font.size": 9, "svg.fonttype": "none"}):
        for plot in _plots(study, done, plan):
            figure = Figure(figsize=plot.size, layout="constrained")
            plot.draw(figure)
            for suffix in ("png", "svg"):
                path = folder / f"{plot.name}.{suffix}"
                with disk_errors(path, "name another folder with --out"):
                    folder.mkdir(parents=True, exist_ok=True)
                    figure.savefig(path, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
                written.append(path)
    return written


def _plots(study: optuna.Study, done: Sequence[Tried], plan: Plan) -> list[_Drawn]:
    objectives = plan.sweep.objectives
    searched = [p.path for p in plan.space.parameters if len({repr(t.point.get(p.path)) for t in done}) > 1]
    pairs = list(itertools.combinations(searched, 2))
    common = [path for path in searched if all(path in trial.point for trial in done)]
    plots: list[_Drawn] = []
    for index, objective in enumerate(objectives):
        name = "" if len(objectives) == 1 else f"-{objective.metric}"
        plots.append(_Drawn(f"history{name}", lambda f, i=index: _history(f, done, plan, i), (6, 3.5)))
        if not searched:
            continue
        plots.append(
            _Drawn(f"slice{name}", lambda f, i=index: _slices(f, done, plan, searched, i), _wide(len(searched)))
        )
        if len(common) > 1:
            plots.append(
                _Drawn(f"importance{name}", lambda f, i=index: _importance(f, study, common, objectives[i], i), (6, 3))
            )
        if pairs:
            plots.append(
                _Drawn(f"contour{name}", lambda f, i=index: _contours(f, done, plan, pairs, i), _wide(len(pairs)))
            )
    if len(objectives) > 1:
        plots.append(_Drawn("pareto", lambda f: _pareto(f, done, plan), (6, 4.5)))
    return plots


def _wide(count: int) -> tuple[float, float]:
    columns, rows = min(count, 3), -(-count // 3)
    return 3.2 * columns + 0.8, 3.0 * rows + 0.4


def _values(done: Sequence[Tried], index: int) -> list[float]:
    return [trial.values[index] for trial in done]


def _best_at(plan: Plan, done: Sequence[Tried], index: int) -> Tried:
    pick = min if plan.sweep.objectives[index].direction == "lower" else max
    return pick(done, key=lambda trial: trial.values[index])


def _history(figure: Figure, done: Sequence[Tried], plan: Plan, index: int) -> None:
    from matplotlib.ticker import MaxNLocator

    axes = figure.add_subplot()
    objective = plan.sweep.objectives[index]
    numbers, values = [trial.number for trial in done], _values(done, index)
    best = list(itertools.accumulate(values, min if objective.direction == "lower" else max))
    axes.scatter(numbers, values, s=16, color=_QUIET, label="trial")
    axes.step(numbers, best, where="post", color=_INK, label="best so far")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("trial")
    axes.set_ylabel(_axis_name(objective))
    axes.set_title(plan.sweep.title)
    axes.legend(frameon=False)


def _importance(figure: Figure, study: optuna.Study, paths: Sequence[str], objective: Objective, index: int) -> None:
    """How far each setting alone tells the best tenth of the trials apart (Watanabe et al. 2023).

    Settings that only some trials have are left out: their share would be of those trials alone.
    """
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    axes = figure.add_subplot()
    sign = 1.0 if objective.direction == "lower" else -1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it looks at low values, which the sign is for
        found = get_param_importances(
            study,
            evaluator=PedAnovaImportanceEvaluator(),
            params=list(paths),
            target=lambda trial: sign * trial.values[index],
        )
    shares = list(reversed(found.items()))
    bars = axes.barh([_label(path) for path, _ in shares], [share for _, share in shares], color=_INK)
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set_xlim(0, 1.1)
    axes.set_xlabel(f"share of the importance for {objective.key} (PED-ANOVA)")


def _slices(figure: Figure, done: Sequence[Tried], plan: Plan, paths: Sequence[str], index: int) -> None:
    domains = {parameter.path: parameter.domain for parameter in plan.space.parameters}
    best = _best_at(plan, done, index)
    for axes, path in zip(_grid(figure, len(paths)), paths, strict=True):
        there = [trial for trial in done if path in trial.point]
        place = _scale(axes, domains[path], path, "x")
        axes.scatter([place(t.point[path]) for t in there], _values(there, index), s=16, color=_QUIET)
        if path in best.point:
            axes.scatter([place(best.point[path])], [best.values[index]], s=40, color=_BEST, marker="*", zorder=3)
        axes.set_ylabel(_axis_name(plan.sweep.objectives[index]))


def _contours(figure: Figure, done: Sequence[Tried], plan: Plan, pairs: Sequence[tuple[str, str]], index: int) -> None:
    domains = {parameter.path: parameter.domain for parameter in plan.space.parameters}
    objective = plan.sweep.objectives[index]
    best = _best_at(plan, done, index)
    shades = "viridis_r" if objective.direction == "lower" else "viridis"
    for axes, (across, up) in zip(_grid(figure, len(pairs)), pairs, strict=True):
        there = [trial for trial in done if across in trial.point and up in trial.point]
        x_of, y_of = _scale(axes, domains[across], across, "x"), _scale(axes, domains[up], up, "y")
        xs, ys = [x_of(t.point[across]) for t in there], [y_of(t.point[up]) for t in there]
        values = _values(there, index)
        _filled(axes, xs, ys, values, shades)
        points = axes.scatter(xs, ys, c=values, s=22, cmap=shades, edgecolors="white", linewidths=0.6, zorder=3)
        if across in best.point and up in best.point:
            place = [x_of(best.point[across])], [y_of(best.point[up])]
            axes.scatter(*place, s=70, color=_BEST, marker="*", zorder=4)
        figure.colorbar(points, ax=axes, label=_axis_name(objective))


def _filled(axes: Axes, xs: Sequence[float], ys: Sequence[float], values: Sequence[float], shades: str) -> None:
    """Shade between the points, in the coordinates of the axes, where they span a plane."""
    import numpy as np
    from matplotlib.tri import Triangulation

    if len(set(xs)) < 2 or len(set(ys)) < 2 or len(xs) < 4:
        return
    logs = (axes.get_xscale() == "log", axes.get_yscale() == "log")
    flat = [np.log(side) if log else np.asarray(side, float) for side, log in zip((xs, ys), logs, strict=True)]
    spans = [(side - side.min()) / np.ptp(side) for side in flat]
    if np.linalg.matrix_rank(np.stack([spans[0] - spans[0][0], spans[1] - spans[1][0]])) < 2:
        return
    triangles = Triangulation(spans[0], spans[1]).triangles
    mesh = Triangulation(xs, ys, triangles)
    axes.tricontourf(mesh, values, levels=12, cmap=shades, alpha=0.55)


def _pareto(figure: Figure, done: Sequence[Tried], plan: Plan) -> None:
    axes = figure.add_subplot()
    first, second = plan.sweep.objectives[:2]
    best = sorted(front(done, plan.sweep), key=lambda trial: trial.values[0])
    axes.scatter(_values(done, 0), _values(done, 1), s=18, color=_QUIET, label="trial")
    axes.plot(_values(best, 0), _values(best, 1), "o-", color=_INK, markersize=5, label="no trial beats these in both")
    for trial in best:
        place = (trial.values[0], trial.values[1])
        axes.annotate(str(trial.number), place, xytext=(4, 4), textcoords="offset points", fontsize=7)
    for objective, side in ((first, "x"), (second, "y")):
        if objective.metric in COSTS:
            _log_side(axes, side)
    axes.set_xlabel(_axis_name(first))
    axes.set_ylabel(_axis_name(second))
    axes.set_title(plan.sweep.title)
    axes.legend(frameon=False)


def _grid(figure: Figure, count: int) -> list[Axes]:
    columns, rows = min(count, 3), -(-count // 3)
    return [figure.add_subplot(rows, columns, number + 1) for number in range(count)]


def _scale(axes: Axes, domain: Domain, path: str, side: str) -> Callable[[Any], float]:
    """Label one side of the axes for a setting; gives where its values stand."""
    getattr(axes, f"set_{side}label")(_label(path))
    if not isinstance(domain, Choice):
        low, high, log = float(domain.low), float(domain.high), domain.log
        ticks = [float(v) for v in domain.listed or () if isinstance(v, int | float)] if domain.whole else None
    else:
        ticks = [float(v) for v in domain.values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(ticks) < len(domain.values) or len(ticks) == 1:  # names stand side by side
            getattr(axes, f"set_{side}ticks")(range(len(domain.values)), [said(value) for value in domain.values])
            getattr(axes, f"set_{side}lim")(-0.5, len(domain.values) - 0.5)
            return lambda value: float(domain.values.index(value))
        low, high = min(ticks), max(ticks)
        log = low > 0 and high / low >= _LOG_FROM
    if log:
        _log_side(axes, side, wide=high / low > 300)
    if ticks and len(ticks) <= _MOST_TICKS:
        getattr(axes, f"set_{side}ticks")(ticks, [f"{tick:g}" for tick in ticks])
        getattr(axes, f"set_{side}ticks")([], minor=True)
    getattr(axes, f"set_{side}lim")(*_padded(low, high, log))
    return float


def _log_side(axes: Axes, side: str, *, wide: bool = False) -> None:
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{side}scale")("log")
    ticks = axes.xaxis if side == "x" else axes.yaxis
    ticks.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 3.0)))
    ticks.set_major_formatter(FormatStrFormatter("%g"))
    ticks.set_minor_formatter(NullFormatter())


def _padded(low: float, high: float, log: bool) -> tuple[float, float]:
    """The whole interval, with a margin in which points on its ends are seen whole."""
    if log:
        factor = (high / low) ** 0.05
        return low / factor, high * factor
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def _label(path: str) -> str:
    axis = leaves()[path].axis
    return path if axis is None else f"{axis.label}\n{path}"


def _axis_name(objective: Objective) -> str:
    return f"{objective.key} ({objective.direction} is better)"
