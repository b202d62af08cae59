"""What a table says where it refuses to rank: which values, why, and what to read instead."""

from __future__ import annotations

from collections.abc import Sequence

from ablatable.report.cells import RowRecords, is_mixed, set_aside
from ablatable.report.yardstick import MOST_HIDDEN, why_mixed
from ablatable.study.schema import Study


def incomparable(study: Study, rows: Sequence[RowRecords]) -> list[str]:
    """One footnote a column that is not ranked, or not all of it, in the order of the columns."""
    notes: list[str] = []
    for column in study.columns:
        if column.metric is None:
            continue
        key = study.metric_key(column)
        if is_mixed(key, rows):
            notes.append(why_mixed(key, column.label) + _instead(study, column.metric, rows))
        if aside := set_aside(key, rows):
            notes.append(_hidden(study, column.label, aside, [row for row in rows if row not in aside]))
    return notes


def _instead(study: Study, metric: str, rows: Sequence[RowRecords]) -> str:
    """Where likelihoods per piece cannot be ranked and those per character can: which column to read, of which rows."""
    key = f"{study.split}.bpc"
    measured = [row for row in rows if any(record.metric(key) is not None for record in row.completed.values())]
    aside = set_aside(key, measured)
    ranked = [row for row in measured if row not in aside]
    if metric not in ("ppl", "nll") or len(ranked) < 2 or is_mixed(key, measured):
        return ""
    label = next((column.label for column in study.columns if column.metric == "bpc"), None)
    which = "the rows that hide no text" if aside else "these rows"
    if label is None:
        return f" Bits per character can rank {which}: give the table a column `metric: bpc`."
    return f" Rank by {label} {which}." if aside else f" Rank {which} by {label}."


def _hidden(study: Study, label: str, rows: Sequence[RowRecords], others: Sequence[RowRecords]) -> str:
    shares = [
        (row.row.title, record.metric(f"{study.split}.oov_target") or 0.0)
        for row in rows
        for record in row.completed.values()
    ]
    worst = {title: max(share for other, share in shares if other == title) for title, _ in shares}
    named = ", ".join(f"{title} ({100 * share:.1f} %)" for title, share in worst.items())
    ranked = any(row.completed for row in others)
    so = "these rows are not ranked with the others" if ranked else "no row is ranked"
    return (
        f"{label}: more than {100 * MOST_HIDDEN:g} % of the target pieces are unknown in {named}, and what an unknown "
        f"piece hides costs nothing; {so}."
    )
