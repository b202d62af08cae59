"""The measured Table 1 as sheets of text: the paper's columns and ours side by side, then every number behind them."""

from __future__ import annotations

from dataclasses import dataclass

from ablatable.analysis.complexity.crossing import Crossing
from ablatable.analysis.complexity.settings import ALONG
from ablatable.analysis.complexity.summary import EXACT, Counts, Lengths, Power, Summary
from ablatable.analysis.complexity.theory import LAYERS, PAPER
from ablatable.analysis.intervals import LEVEL, Interval

OUTSIDE = "*"
"""Marks an interval the theory's exponent is not in."""


@dataclass(frozen=True)
class Sheet:
    """A table of texts. ``left``: the columns set flush left."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    left: tuple[int, ...] = (0,)


def sheets(summary: Summary) -> list[Sheet]:
    """Everything that was found, what the paper prints first."""
    return [_complexity(summary), _sequence(summary), _fits(summary), _crossings(summary), _paths(summary)]


def notes(summary: Summary) -> list[str]:
    """What a reader must know beside the numbers, a sentence or two each."""
    s, machine = summary.settings, summary.machine
    passes = "forward and backward" if s["backward"] else "forward"
    threads = "one thread" if s["threads"] == 1 else f"{s['threads']} threads"
    said = [
        f"One layer, one sequence, {passes}, float32; k = {s['kernel']}, r = {s['window']}, heads of 64; "
        f"{machine['device']}, {threads}, PyTorch {machine['torch']}; medians of {s['rounds']} rounds, each in another "
        "order.",
        "Exponents of time: of the leading term, one lower term fitted along, over the asymptotic range "
        f"(docs/complexity.md); the intervals hold at once with {LEVEL:.0%}."
        + (f" {OUTSIDE} the interval does not contain the theory's exponent." if _any_outside(summary) else ""),
        "Operations: the products of matrices a call made, as counted while it ran, two a multiply-add; a form alone "
        "says that every count equals it. Products in a row: the longest chain, each waiting for another's result.",
        "The paper's counts leave the projections out. With them a layer is a sum of terms and has no exponent of its "
        "own: those rows show what is paid, not a claim. Of memory the paper says nothing.",
    ]
    if summary.shared > 0.05:
        said.append(
            f"The machine was not idle: other programs had the processor {summary.shared:.0%} of the time. "
            "Caches were shared with them; measure again when it is idle."
        )
    return said


def _any_outside(summary: Summary) -> bool:
    return any(power.holds is False for power in summary.powers)


def _complexity(summary: Summary) -> Sheet:
    rows: list[tuple[str, ...]] = []
    for counts in summary.counts:
        layer, name = LAYERS[counts.layer], counts.layer
        equal = counts.operations_equal == counts.points
        rows.append(
            (
                layer.title,
                PAPER[layer.paper].complexity if layer.exponents else "",
                layer.formula if equal else f"{layer.formula} at {counts.operations_equal} of {counts.points}",
                _growth(summary, name) if layer.exponents else "",
                *(_interval(summary.power(name, "time", along)) for along in ALONG),
                _estimate(summary.power(name, "memory", "n")),
            )
        )
    heads = (
        "Layer",
        "Paper",
        "Operations, counted",
        "Their exponents",
        "Time, exponent of n",
        "Time, exponent of d",
        "Memory, of n",
    )
    return Sheet("Complexity per layer", heads, rows, (0, 1, 2, 3))


def _growth(summary: Summary, layer: str) -> str:
    return " ".join(f"{along}^{_estimate(summary.power(layer, 'operations', along))}" for along in ALONG)


def _sequence(summary: Summary) -> Sheet:
    shown = {
        "self-attention": "self-attention",
        "recurrent": "recurrent",
        "convolutional": "convolutional",
        "dilated": "dilated",
        "restricted": "restricted",
    }
    rows: list[tuple[str, ...]] = []
    for name, kind in shown.items():
        paper = PAPER[LAYERS[name].paper]
        counts = next(one for one in summary.counts if one.layer == name)
        lengths = next(one for one in summary.paths if one.kind == kind)
        path = "O(n/k)" if name == "convolutional" else paper.path
        rows.append((LAYERS[name].title, paper.sequential, _steps(counts), path, lengths.formula, _example(lengths)))
    heads = (
        "Layer",
        "Sequential (paper)",
        "Products in a row",
        "Maximum path (paper)",
        "Closed form",
        "Measured",
    )
    return Sheet("Sequential operations and maximum path length", heads, rows, (0, 1, 2, 3, 4))


def _steps(counts: Counts) -> str:
    (_, few), (last, many) = counts.first, counts.last
    said = f"{few} at every n" if few == many else f"{many} at n = {last}"
    return (
        said
        if counts.steps_equal == counts.points
        else f"{said}, as expected at {counts.steps_equal} of {counts.points}"
    )


def _example(lengths: Lengths) -> str:
    n, size, length = lengths.example
    letter = "r" if lengths.kind == "restricted" else "k"
    return f"{length} at n = {n}" + (f", {letter} = {size}" if size else "")


def _fits(summary: Summary) -> Sheet:
    rows = [
        (
            LAYERS[power.layer].title,
            power.quantity,
            power.along,
            "" if power.theory is None else str(power.theory),
            _interval(power) if power.quantity == "time" else "",
            _said(power.fit.straight) if power.fit else "",
            f"{power.fit.first} to {power.fit.last}" if power.fit else "",
            str(power.fit.points) if power.fit else "",
            " to ".join(f"{rate / 1e9:.0f}" for rate in power.rates) if power.rates else "",
        )
        for power in summary.powers
        if power.quantity != "operations"
    ]
    heads = (
        "Layer",
        "Quantity",
        "along",
        "Theory",
        "Leading exponent",
        "Straight line",
        "Range",
        "Points",
        "10⁹ operations/s",
    )
    return Sheet("Every exponent", heads, rows, (0, 1, 2))


def _crossings(summary: Summary) -> Sheet:
    rows = [
        (
            LAYERS[one.layer].title,
            str(one.d),
            str(one.d),
            f"{one.counted:.0f}" if one.counted else f"not in {one.bounds[0]} to {one.bounds[1]}",
            _length(one),
            f"{one.timed.estimate / one.d:.1f}" if one.timed else "",
        )
        for one in summary.crossings
    ]
    heads = ("Dearer than the recurrent layer from n on", "d", "O(): n = d", "Operations", "Time", "Time, n/d")
    return Sheet("Where self-attention overtakes the recurrent layer", heads, rows)


def _length(one: Crossing) -> str:
    if one.timed is None:
        return f"not in {one.bounds[0]} to {one.bounds[1]}"
    return f"{one.timed.estimate:.0f} ({one.timed.low:.0f} to {one.timed.high:.0f})"


def _paths(summary: Summary) -> Sheet:
    titles = {
        "convolutional": "convolution, causal",
        "convolutional-centred": "convolution, centred",
        "dilated": "dilated convolution, causal",
    }
    rows = [(titles.get(one.kind, one.kind), one.formula, str(one.measured), str(one.equal)) for one in summary.paths]
    return Sheet("Maximum path lengths", ("Layer", "Closed form", "Measured", "Equal to it"), rows, (0, 1))


def _estimate(power: Power) -> str:
    return "?" if power.fit is None else _plain(power.fit.straight.estimate)


def _interval(power: Power) -> str:
    if power.fit is None:
        return "too few points"
    return _said(power.fit.leading) + (OUTSIDE if power.holds is False else "")


def _said(interval: Interval) -> str:
    return f"{interval.estimate:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _plain(value: float) -> str:
    """A whole number without decimals, where only rounding keeps it from one."""
    return f"{value:.0f}" if abs(value - round(value)) < EXACT else f"{value:.2f}"


def flat(summary: Summary) -> list[tuple[object, ...]]:
    """Every exponent in one table, heads first, for CSV; cells are empty where nothing was fitted."""
    known = ("layer", "quantity", "along", "theory")
    fitted = ("leading", "low", "high", "straight", "straight_low", "straight_high", "first", "last", "points", "holds")
    return [(*known, *fitted), *(_flat(power) for power in summary.powers)]


def _flat(power: Power) -> tuple[object, ...]:
    known = (power.layer, power.quantity, power.along, power.theory)
    fit = power.fit
    if fit is None:
        return (*known, *("",) * 10)
    ends = ((one.estimate, one.low, one.high) for one in (fit.leading, fit.straight))
    numbers = (float(f"{end:.6g}") for three in ends for end in three)
    return (*known, *numbers, fit.first, fit.last, fit.points, power.holds)
