"""Taking the weights of a run that trained the same thing, where only search, evaluation or averaging differ."""

from __future__ import annotations

import os
from pathlib import Path

from ablatable.config.dump import from_dict
from ablatable.config.identity import training_id, weights_id
from ablatable.config.schema import Experiment
from ablatable.record.files import disk_errors, write_atomic
from ablatable.record.job import Job
from ablatable.record.schema import Record
from ablatable.record.store import Store
from ablatable.training.checkpoint import Checkpoints
from ablatable.training.fit import saved_progress
from ablatable.training.progress import Progress

_NOTE = "trained_by"


def adopt(job: Job) -> None:
    """Link what the training of ``job.trained_by`` left, if that is all this run evaluates and it has nothing yet.

    Nothing is copied: checkpoints are replaced whole, never changed.
    """
    own = Checkpoints(job.folder / "checkpoints")
    if own.last.is_file():
        return
    (own.folder / _NOTE).unlink(missing_ok=True)
    record = _trainer(job)
    if record is None:
        return
    other = Checkpoints(job.folder.parent / record.id / "checkpoints")
    experiment, trained = job.experiment, from_dict(record.config)
    fingerprint = record.stamp.corpus_fingerprint
    progress = saved_progress(other)
    if progress is not None and progress.finished and _leaves_enough(other, trained, experiment):
        averages = other.numbered()[-experiment.train.average_last :] if experiment.train.average_last > 1 else []
        _link(own, record.id, [path for path in (other.best, *averages, other.last) if path.is_file()])
    elif other.evaluated.is_file() and weights_id(trained, fingerprint) == weights_id(experiment, fingerprint):
        _link(own, record.id, [other.evaluated])


def trained_by(job: Job) -> str | None:
    """The run whose weights were taken, if any were."""
    note = job.folder / "checkpoints" / _NOTE
    return note.read_text(encoding="ascii") if note.is_file() else None


def adopted_progress(job: Job) -> Progress | None:
    """The counters of the run whose weights were taken; None where this run trains."""
    trainer = trained_by(job)
    record = None if trainer is None else Store(job.folder.parent).read(trainer)
    if record is None:
        return None
    return Progress(
        update=record.updates,
        source_tokens=record.source_tokens,
        target_tokens=record.target_tokens,
        finished=True,
        curve=list(record.curve),
    )


def _trainer(job: Job) -> Record | None:
    record = None if job.trained_by is None else Store(job.folder.parent).read(job.trained_by)
    if record is None or record.status != "completed":
        return None
    fingerprint = record.stamp.corpus_fingerprint
    same = training_id(from_dict(record.config), fingerprint) == training_id(job.experiment, fingerprint)
    return record if same else None


def _leaves_enough(left: Checkpoints, trained: Experiment, wanted: Experiment) -> bool:
    if wanted.evaluate.checkpoint == "best":
        return left.best.is_file()
    if wanted.evaluate.checkpoint != "last" or wanted.train.average_last == 1:
        return True
    return (
        trained.train.average_every == wanted.train.average_every and len(left.numbered()) >= wanted.train.average_last
    )


def _link(own: Checkpoints, trainer: str, files: list[Path]) -> None:
    """The note first and ``last.ckpt`` last, so that a run killed in between starts over with it."""
    write_atomic(own.folder / _NOTE, trainer)
    for path in files:
        target = own.folder / path.name
        with disk_errors(target):
            target.unlink(missing_ok=True)
            os.link(path, target)
