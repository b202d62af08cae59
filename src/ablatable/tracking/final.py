"""What a finished run shows besides its numbers: the same sentences in every run, and a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from ablatable.data.dataset import Dataset
from ablatable.record.job import Job
from ablatable.record.schema import Record
from ablatable.record.store import RECORD_FILE
from ablatable.tracking.tracker import Final, Sample

Pictures = Callable[[Job, Dataset], dict[str, Path]]
"""Draws a finished run: PNG files by name."""

SAMPLES = 20
"""Sentences shown of a split: its first, so that they are the same in every run on a corpus."""


def no_pictures(job: Job, dataset: Dataset) -> dict[str, Path]:
    """Nothing is drawn."""
    return {}


def final_of(job: Job, dataset: Dataset, record: Record, pictures: Pictures = no_pictures) -> Final:
    """The record; of a completed run also the first translations of each split that was scored, and pictures."""
    if record.status != "completed":
        return Final(record, job.folder / RECORD_FILE)
    samples = {
        split: _samples(job.folder, split, dataset.sources(split), dataset.references(split))
        for split in job.experiment.evaluate.splits
    }
    try:
        drawn = pictures(job, dataset)
    except Exception as error:  # noqa: BLE001 - a picture is no reason to lose the numbers: it is told and left out
        print(f"the trackers show no picture of this run: {type(error).__name__}: {error}", file=sys.stderr)
        drawn = {}
    return Final(record, job.folder / RECORD_FILE, samples, drawn)


def _samples(
    folder: Path, split: Literal["valid", "test"], sources: Sequence[str], references: Sequence[str]
) -> list[Sample]:
    hypotheses = (folder / f"hypotheses.{split}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    chosen = zip(sources[:SAMPLES], references[:SAMPLES], hypotheses[:SAMPLES], strict=False)
    return [Sample(number, *texts) for number, texts in enumerate(chosen)]
