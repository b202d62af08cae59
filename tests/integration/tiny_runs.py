"""Whole runs of a tiny experiment, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.data.dataset import prepare
from ablatable.record.job import Job
from ablatable.record.schema import Labels, Record

TINY = [
    "data.corpus=synthetic-copy",
    "data.train_pairs=600",
    "tokenizer.size=48",
    "model.layers=1",
    "model.d_model=32",
    "model.d_ff=64",
    "model.heads=4",
    "train.updates=24",
    "train.batch_tokens=256",
    "train.warmup=20",
    "train.validate_every=8",
    "evaluate.sentences=12",
    "decode.beam=2",
    "tracking.wandb=off",
]

Run = Callable[..., tuple[Record, Path]]


class Stopped(Exception):
    """Stands for the moment the power goes."""


def tiny_job(folder: Path, cache: Path, *words: str, study: str | None = None) -> Job:
    """The tiny experiment with overrides, to be run in a folder of ``folder`` that is named by its identity."""
    given = {word.split("=", 1)[0] for word in words}
    defaults = [word for word in TINY if word.split("=", 1)[0] not in given]
    experiment = load_experiment("base", [*defaults, *words])
    id = run_id(experiment, prepare(experiment, cache).corpus.fingerprint)
    return Job(experiment, id, Labels(study, "row" if study else None, None), folder / id, cache)


def curve(record: Record) -> list[tuple[int, float | None, float | None, int]]:
    """What must repeat of the learning curve: not the times."""
    return [(point.update, point.valid_nll, point.train_nll, point.target_tokens) for point in record.curve]


def numbers(record: Record) -> Any:
    """What two records of one run share."""
    return curve(record), record.metrics, record.source_tokens, record.target_tokens, record.updates, record.cause
