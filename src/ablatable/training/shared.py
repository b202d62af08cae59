"""Taking the weights of a run that trained the same thing, where only search, evaluation or averaging differ."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ablatable.config.dump import from_dict
from ablatable.config.identity import training_id
from ablatable.errors import InputError
from ablatable.record.files import disk_errors, write_atomic
from ablatable.record.job import Job
from ablatable.record.schema import Code, Record
from ablatable.record.store import Store
from ablatable.training.checkpoint import Checkpoints
from ablatable.training.fit import saved_progress
from ablatable.training.offers import offered
from ablatable.training.progress import Progress

_NOTE = "trained_by"
"""In a run's ``checkpoints``: the run that trained, then the files taken, a line each."""


def adopt(job: Job) -> str | None:
    """Take what the training of ``job.trained_by`` left, where that is all this run evaluates and it has none itself.

    Files are linked: checkpoints are replaced whole, never changed. Returns the run that trained; None: train.
    """
    own = Checkpoints(job.folder / "checkpoints")
    noted = _noted(own)
    if not noted and own.last.is_file():
        return None
    record = _trainer(job)
    trained = None if record is None else record.trained_by or record.id
    if noted:
        if noted[0] == trained and all((own.folder / name).is_file() for name in noted[1:]):
            return trained
        _forget(own)
    if record is None or trained is None:
        return None
    files = _offered(job, record)
    return trained if files and _take(own, trained, files) else None


def trained_by(job: Job) -> str | None:
    """The run whose weights were taken, if any were."""
    return next(iter(_noted(Checkpoints(job.folder / "checkpoints"))), None)


def trainer_code(job: Job) -> Code | None:
    """The code of the run whose weights were taken, if any were."""
    record = _adopted_from(job)
    return None if record is None else record.stamp.code


def adopted_progress(job: Job) -> Progress | None:
    """The counters of the run whose weights were taken; None where this run trains."""
    record = _adopted_from(job)
    if record is None:
        return None
    return Progress(
        update=record.updates,
        source_tokens=record.source_tokens,
        target_tokens=record.target_tokens,
        finished=True,
        curve=list(record.curve),
        cause=record.cause,
    )


def repeatable(job: Job) -> bool:
    """Whether the weights that were taken, if any were, come of a training that can be repeated bit for bit."""
    record = _adopted_from(job)
    return record is None or record.stamp.deterministic


def _adopted_from(job: Job) -> Record | None:
    trainer = trained_by(job)
    return None if trainer is None else Store(job.folder.parent).read(trainer)


def failure(job: Job) -> str | None:
    """Why the training that was to serve this run failed, if it did: the same would happen here."""
    record = _same_training(job)
    if record is None or record.status != "failed":
        return None
    return f"run {record.id}, which trains for it, failed: {record.cause}"


def _same_training(job: Job) -> Record | None:
    record = None if job.trained_by is None else Store(job.folder.parent).read(job.trained_by)
    if record is None:
        return None
    try:
        trained = from_dict(record.config)
    except InputError:
        return None  # of a design space that had other settings
    fingerprint = record.stamp.corpus_fingerprint
    return record if training_id(trained, fingerprint) == training_id(job.experiment, fingerprint) else None


def _trainer(job: Job) -> Record | None:
    record = _same_training(job)
    return record if record is not None and record.status == "completed" else None


def _offered(job: Job, record: Record) -> list[Path]:
    """What this run needs of the trainer's checkpoints; nothing where it is not all there."""
    left = Checkpoints(job.folder.parent / record.id / "checkpoints")
    fingerprint = record.stamp.corpus_fingerprint
    files = offered(left.folder, from_dict(record.config), record.updates, job.experiment, fingerprint)
    return [] if left.last in files and not _is_finished(left) else files


def _is_finished(left: Checkpoints) -> bool:
    try:
        progress = saved_progress(left)
    except InputError:
        return False  # dropped or damaged meanwhile: this run trains
    return progress is not None and progress.finished


def _noted(own: Checkpoints) -> list[str]:
    note = own.folder / _NOTE
    return note.read_text(encoding="utf-8").split("\n") if note.is_file() else []


def _take(own: Checkpoints, trained: str, files: list[Path]) -> bool:
    """Link the files, the note first, so that a run killed in between starts over; False: they are gone."""
    write_atomic(own.folder / _NOTE, "\n".join([trained, *(path.name for path in files)]))
    for path in files:
        target = own.folder / path.name
        target.unlink(missing_ok=True)
        try:
            os.link(path, target)
        except FileNotFoundError:
            _forget(own)
            return False
        except OSError:  # no hard links here, or another disk
            with disk_errors(target):
                shutil.copyfile(path, target)
    return True


def _forget(own: Checkpoints) -> None:
    for name in _noted(own)[1:]:
        (own.folder / name).unlink(missing_ok=True)
    (own.folder / _NOTE).unlink(missing_ok=True)
