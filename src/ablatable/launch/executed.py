"""What a run's process calls: the run, with the pictures its trackers show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ablatable.record.job import Job
from ablatable.record.schema import Record

if TYPE_CHECKING:
    from ablatable.config.runtime import Tracking
    from ablatable.data.dataset import Dataset


def execute(job: Job) -> Record:
    """:func:`ablatable.training.run.execute`; nothing is drawn where nothing is tracked."""
    from ablatable.training.run import execute

    return execute(job, pictures=_pictures)


def show(folder: Path, cache: Path, tracking: Tracking) -> None:
    """:func:`ablatable.tracking.rebuild.show`, with the pictures a run of its own would have."""
    from ablatable.tracking import rebuild

    rebuild.show(folder, cache, tracking, _pictures)


def _pictures(job: Job, dataset: Dataset) -> dict[str, Path]:
    from ablatable.analysis.attention.shown import pictures

    return pictures(job, dataset)
