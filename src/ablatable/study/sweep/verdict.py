"""From the records of a trial's runs to what its storage is told."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any, Literal

from ablatable.record.schema import Record
from ablatable.study.sweep import trials as kept
from ablatable.study.sweep.schema import SCORES, Objective, Sweep
from ablatable.study.sweep.trials import Stored

Ending = Literal["completed", "pruned", "failed", "skipped"]


def verdict(
    sweep: Sweep, ending: Ending, cause: str | None, records: Sequence[Record]
) -> tuple[Stored, list[float] | None, dict[str, Any]]:
    """State, objectives and attributes of a trial that ended.

    Only a trial whose every seed was completed has values; a pruned one has none: what it last reported is no result.

    Args:
        sweep: says what is measured.
        ending: how the trial ended.
        cause: why.
        records: of its seeds, as far as it came.
    """
    attributes: dict[str, Any] = {kept.SPENT: {record.id: _spent(record, sweep) for record in records}}
    if ending == "completed":
        values = [_mean(objective, records) for objective in sweep.objectives]
        if all(value is not None and math.isfinite(value) for value in values):
            return "COMPLETE", [value for value in values if value is not None], attributes
        missing = [one.key for one, value in zip(sweep.objectives, values, strict=True) if value is None]
        cause = f"its record has no {' and no '.join(missing)}" if missing else "an objective is not a finite number"
    attributes[kept.CAUSE] = cause or f"its runs {ending} and said no cause"
    if ending == "skipped":
        attributes[kept.SKIPPED] = True
    return ("PRUNED" if ending == "pruned" else "FAIL"), None, attributes


def measured(objective: Objective, record: Record) -> float | None:
    """What a run's record says of an objective."""
    if objective.metric in SCORES:
        return record.metric(objective.key)
    return float(getattr(record, objective.metric))


def _mean(objective: Objective, records: Sequence[Record]) -> float | None:
    values = [measured(objective, record) for record in records]
    found = [value for value in values if value is not None]
    return statistics.fmean(found) if found and len(found) == len(values) else None


def _spent(record: Record, sweep: Sweep) -> list[float]:
    """Seconds and FLOPs, where the run was made for this sweep; one that was there already cost nothing."""
    made_here = record.labels.study == sweep.name
    return [record.wall_seconds, record.flops] if made_here else [0.0, 0.0]
