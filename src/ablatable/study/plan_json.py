"""A plan as data for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ablatable.study.plan import Plan, PlannedRow
from ablatable.study.status import STATES


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan as data for scripts: every count exact."""
    return {
        "study": plan.study,
        "title": plan.title,
        "scale": plan.scale,
        "baseline": plan.baseline,
        "seeds": plan.seeds,
        "vocabulary": plan.vocabulary,
        "corpus": plan.corpus,
        "provisional": plan.provisional,
        "tuning": plan.tuning,
        "speed": asdict(plan.speed),
        "rows": [_row_json(row) for row in plan.rows],
        "absent": [{"row": row.name, "cause": row.absence(plan.scale)} for row in plan.absent],
        "totals": {
            "rows": len(plan.rows),
            "distinct_runs": plan.distinct_runs,
            "all": asdict(plan.everything),
            "to_do": asdict(plan.to_do),
            "states": _state_counts(plan.rows),
            "trials": asdict(plan.trials),
            "trials_to_do": asdict(plan.trials_to_do),
        },
    }


def _row_json(row: PlannedRow) -> dict[str, Any]:
    return {
        "row": row.row,
        "group": row.group,
        "changes": row.changes,
        **asdict(row.cost),
        "seconds": row.seconds,
        "seconds_measured": row.measured,
        "trained_by": row.trained_by,
        "tuned": row.tuned,
        "search": None if row.search is None else {**asdict(row.search), "seconds_a_trial": row.trial_seconds},
        "runs": [{"id": run.id, "seed": run.seed, "state": run.state, "cause": run.cause} for run in row.runs],
    }


def _state_counts(rows: Sequence[PlannedRow]) -> dict[str, int]:
    found = Counter(run.state for row in rows for run in row.runs)
    return {state: found[state] for state in STATES}
