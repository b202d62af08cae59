"""Runs that took another's weights: what of their records is no cost of the row, and which code trained them."""

from __future__ import annotations

from ablatable.record.schema import Code, Record

COSTS = ("wall_seconds", "device_seconds", "peak_memory_bytes")
"""Metrics that are measured on a run's own process, whatever it did there."""


def hides_cost(record: Record, key: str) -> bool:
    """Whether the metric is of search and scoring alone, beside others that are of training too."""
    return record.trained_by is not None and key in COSTS


def training_code(record: Record) -> Code | None:
    """The code that trained the weights; None where a record of another's training does not say."""
    return record.stamp.code if record.trained_by is None else record.trainer_code
