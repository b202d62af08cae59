"""What the tests of the search itself run in place of a training: a formula, in a real process, with a real record."""

from __future__ import annotations

import math
import os
import signal
import time
from pathlib import Path

from ablatable.config.dump import to_dict
from ablatable.config.schema import Experiment
from ablatable.errors import InputError, RunFailed
from ablatable.record.events import EventWriter
from ablatable.record.job import Job
from ablatable.record.schema import CurvePoint, Hardware, Metric, Record, Stamp, Status
from ablatable.record.store import Store

SECONDS = float(os.environ.get("CHEAP_TRIAL_SECONDS", "0.1"))


def objective(job: Job) -> None:
    """A bowl over the logarithms of rate and warm-up, its lowest point at 1 and 100; it holds the run's lock."""
    store = Store(job.folder.parent)
    with store.lock(job.id):
        found = store.read(job.id)
        if found is not None and found.status == "completed":
            return
        with EventWriter(job.folder / "events.jsonl") as events:
            events.write("start", updates=job.experiment.train.updates)
            (job.folder / "starts").open("a").write(f"{os.getpid()}\n")
            time.sleep(SECONDS)
            _behave(job)
            store.write_record(_record(job, "completed", None, value(job.experiment)))


def value(experiment: Experiment) -> float:
    """The value of a point."""
    train = experiment.train
    return math.log(train.learning_rate_factor) ** 2 + math.log(train.warmup / 100) ** 2 + 0.01 * experiment.seed


def _behave(job: Job) -> None:
    """Beta 1 says how the run ends badly."""
    match job.experiment.train.beta1:
        case 0.1:
            raise InputError("tokenizer.size=9 is more than the text has")
        case 0.2:
            raise ValueError("a fault in the training")
        case 0.25:
            raise RunFailed("the disk is full: record.json could not be written")
        case 0.3:
            mark = job.folder / "died"
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case 0.4:
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            pass


def diverging(job: Job) -> None:
    """A run that ends with the record of a failure, holding no metric."""
    with Store(job.folder.parent).lock(job.id):
        record = _record(job, "failed", "the training loss was not finite at or before update 3", math.nan)
        Store(job.folder.parent).write_record(record)


def curved(job: Job) -> None:
    """A run that reports ten validations, the last its result, and can be asked to end after each."""
    from ablatable.record.prune import asked_to_prune

    store = Store(job.folder.parent)
    with store.lock(job.id), EventWriter(job.folder / "events.jsonl") as events:
        events.write("start", updates=100)
        points: list[CurvePoint] = []
        for update in range(10, 101, 10):
            nll = value(job.experiment) + 10 / update
            points.append(CurvePoint(update, nll))
            events.write("valid", update=update, nll=nll, ppl=math.exp(nll), accuracy=0.5)
            time.sleep(0.4)
            cause = asked_to_prune(job.folder, os.getpgrp())
            if cause is not None:
                store.write_record(_record(job, "pruned", cause, math.nan, points))
                return
        store.write_record(_record(job, "completed", None, value(job.experiment), points))


def _record(job: Job, status: Status, cause: str | None, nll: float, curve: list[CurvePoint] | None = None) -> Record:
    completed = status == "completed"
    metrics = {"valid.nll": Metric(nll, "nats/token"), "valid.bleu": Metric(30 - nll, "BLEU")} if completed else {}
    return Record(
        id=job.id,
        labels=job.labels,
        seed=job.experiment.seed,
        config=to_dict(job.experiment),
        status=status,
        cause=cause,
        metrics=metrics,
        curve=curve or [],
        parameters=1000 * job.experiment.model.layers,
        source_tokens=100,
        target_tokens=100,
        updates=100,
        flops=1e9,
        wall_seconds=36.0,
        device_seconds=36.0,
        peak_memory_bytes=1,
        stamp=Stamp(
            git_commit=None,
            git_dirty_digest=None,
            code_digest="0" * 16,
            packages={},
            python="3",
            platform="Linux",
            hardware=Hardware("cpu", 1, 1, []),
            threads=1,
            devices=1,
            corpus="synthetic-copy",
            corpus_fingerprint="2291839859fde6eb",
            tokenizer_fingerprint="0",
            bleu_signature=None,
            deterministic=True,
            command="",
            started="2026-01-01T00:00:00Z",
            finished="2026-01-01T00:00:00Z",
        ),
    )


def starts(runs: Path) -> dict[str, int]:
    """How often each run was begun."""
    return {path.parent.name: len(path.read_text().splitlines()) for path in runs.glob("*/starts")}
