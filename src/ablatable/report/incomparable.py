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
            notes.append(_hidden(study, column.label, aside))
    return notes


def _instead(study: Study, metric: str, rows: Sequence[RowRecords]) -> str:
    """Where likelihoods per piece cannot be ranked and those per character can: which column to read."""
    if metric not in ("ppl", "nll") or is_mixed(f"{study.split}.bpc", rows):
        return ""
    label = next((column.label for column in study.columns if column.metric == "bpc"), None)
    if label is None:
        return " Bits per character can be ranked here: give the table a column `metric: bpc`."
    return f" Rank these rows by {label}."


def _hidden(study: Study, label: str, rows: Sequence[RowRecords]) -> str:
    shares = [
        (row.row.title, record.metric(f"{study.split}.oov_target") or 0.0)
        for row in rows
        for record in row.completed.values()
    ]
    worst = {title: max(share for other, share in shares if other == title) for title, _ in shares}
    named = ", ".join(f"{title} ({100 * share:.1f} %)" for title, share in worst.items())
    return (
        f"{label}: more than {100 * MOST_HIDDEN:g} % of the target pieces are unknown in {named}, and what an unknown "
        "piece hides costs nothing; these rows are not ranked with the others."
    )
