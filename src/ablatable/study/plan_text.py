"""A plan as a person reads it."""

from __future__ import annotations

from collections import Counter

from ablatable.config.layers import said
from ablatable.study.plan import Plan, PlannedRow
from ablatable.study.status import STATES

_RIGHT = {3, 4, 5, 6, 7}
"""Columns of numbers."""


def to_text(plan: Plan) -> str:
    """The plan as a person reads it: one line a row, totals, and what the time is based on."""
    searched = any(row.search is not None for row in plan.rows)
    header = ["", "row", "changes", "parameters", "FLOPs", "tokens", "time", "disk", "state"]
    lines = [header + ["search"] * searched, *(_cells(row) + [_search(row)] * searched for row in plan.rows)]
    runs = f"{len(plan.rows)} rows x {plan.seeds} seed{'s' if plan.seeds > 1 else ''}"
    todo, everything = plan.to_do, plan.everything
    working = max(row.cost.working_disk_bytes for row in plan.rows)
    notes = [
        f"{runs}: {everything.runs} runs, {plan.distinct_runs} distinct, {everything.runs - todo.runs} finished",
        f"to do: {todo.runs} runs, {_power(todo.flops)} FLOPs, {duration(todo.seconds)} of device time, "
        f"{size(todo.disk_bytes)} on disk (a run holds up to {size(working)} while it trains)",
        f"time: {plan.speed.basis}" + ("; ~ is an estimate" if plan.speed.measured else ""),
        f"parameters: vocabulary of {plan.vocabulary:,} pieces; tokens: source + target, full batches, padding counted",
    ]
    if searched:
        notes.insert(1, _trials_note(plan))
    notes += [f"hole: {row.name}: {row.absence(plan.scale)}" for row in plan.absent]
    if plan.provisional:
        notes.append(
            f"corpus {plan.corpus} is not on this machine: run ids are provisional, nothing can be finished yet"
        )
    title = f"{plan.study} at scale {plan.scale}, baseline {plan.baseline}, {plan.tuning}: {plan.title}"
    return "\n".join([title, "", *_aligned(lines), "", *notes])


def _cells(row: PlannedRow) -> list[str]:
    changed = ", ".join(f"{_short(path)}={said(value)}" for path, value in row.changes.items())
    cost = row.cost
    return [
        f"({row.group})" if row.group else "",
        row.row,
        changed,
        f"{cost.parameters:,}",
        _power(cost.flops),
        _power(cost.source_tokens + cost.target_tokens),
        ("" if row.measured else "~") + duration(row.seconds),
        size(cost.disk_bytes),
        _standing(row) + (f", trained by {row.trained_by}" if row.trained_by else ""),
    ]


def _search(row: PlannedRow) -> str:
    """How far the row's search is, or the settings it, or the baseline's, chose."""
    if row.tuned is not None:
        from ablatable.study.tuning.status import point

        trial = "" if row.search is None else f" (trial {row.search.best} of {row.search.trials})"
        settings = {_short(path): value for path, value in row.tuned.items()}
        return (point(settings) or "nothing of it applies here") + trial
    return "" if row.search is None else f"{row.search.ended} of {row.search.trials} trials"


def _trials_note(plan: Plan) -> str:
    every, todo = plan.trials, plan.trials_to_do
    return (
        f"searches first: {every.runs} trials, {every.runs - todo.runs} ended; to do: {todo.runs} trials, "
        f"{_power(todo.flops)} FLOPs, {duration(todo.seconds)} of device time, {size(todo.disk_bytes)} on disk"
    )


def _short(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _standing(row: PlannedRow) -> str:
    if len(row.runs) == 1:
        return row.runs[0].state
    counts = Counter(run.state for run in row.runs)
    return ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])


def _power(value: float) -> str:
    return f"{value:.2g}"


def duration(seconds: float) -> str:
    """Seconds, minutes, hours or days, whichever reads best."""
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 86400:,.0f} days" if seconds > 10 * 86400 else f"{seconds / 86400:.1f} days"


def size(count: float) -> str:
    """Bytes in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _aligned(lines: list[list[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            cell.rjust(w) if i in _RIGHT else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
