"""What a finished run shows besides its numbers: the same sentences in every run, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ablatable.data.dataset import Dataset
from ablatable.record.job import Job
from ablatable.record.schema import Record
from ablatable.record.store import RECORD_FILE
from ablatable.tracking.tracker import Final, Sample

SAMPLES = 20
"""Sentences shown of a split: its first, so that they are the same in every run on a corpus."""


def final_of(job: Job, dataset: Dataset, record: Record) -> Final:
    """The record, and the first translations of each split that was scored."""
    samples = {
        split: _samples(job.folder, split, dataset.sources(split), dataset.references(split))
        for split in job.experiment.evaluate.splits
        if record.status == "completed"
    }
    return Final(record, job.folder / RECORD_FILE, samples)


def _samples(
    folder: Path, split: Literal["valid", "test"], sources: Sequence[str], references: Sequence[str]
) -> list[Sample]:
    hypotheses = (folder / f"hypotheses.{split}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    chosen = zip(sources[:SAMPLES], references[:SAMPLES], hypotheses[:SAMPLES], strict=False)
    return [Sample(number, *texts) for number, texts in enumerate(chosen)]
