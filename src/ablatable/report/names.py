"""What a run is called where it is printed: study, row and seed, as tables have them."""

from __future__ import annotations

from ablatable.record.foreign import AnyRecord
from ablatable.record.schema import Labels


def row_name(labels: Labels) -> str:
    """``table3/h=1``; without a study the name it was trained under, ``base``."""
    return "/".join(part for part in (labels.study, labels.row) if part is not None)


def run_name(record: AnyRecord) -> str:
    """``table3/h=1/1``: the row and the seed; the id where the run has no labels."""
    row = row_name(record.labels)
    return f"{row}/{record.seed}" if row else record.id
