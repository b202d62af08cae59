"""One run from job to record: prepare, train or resume, decode, score, write."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from ablatable.config.dump import to_dict, to_yaml
from ablatable.config.schema import Experiment
from ablatable.data.batches import check_budget
from ablatable.data.dataset import Dataset, prepare
from ablatable.errors import InputError
from ablatable.nn.build import build_model
from ablatable.nn.cost import training_flops
from ablatable.nn.network import AnyNetwork
from ablatable.record.events import EventWriter
from ablatable.record.files import write_atomic
from ablatable.record.job import Job
from ablatable.record.prune import forget_prune
from ablatable.record.schema import Labels, Metric, Record, Status
from ablatable.record.stamp import collect, utc_now
from ablatable.record.store import Store
from ablatable.tracking.final import Pictures, final_of, no_pictures
from ablatable.tracking.opening import check_tracking, open_mirror
from ablatable.training.checkpoint import Checkpoints, load_weights, save_weights
from ablatable.training.final import evaluate_split, vocabulary_sizes
from ablatable.training.fit import device_kind, fit, saved_progress, set_up_process
from ablatable.training.module import Diverged, Pruned
from ablatable.training.progress import Progress
from ablatable.training.scored import KINDS, averaged_checkpoints
from ablatable.training.shared import adopt, adopted_progress, failure, repeatable, trained_by, trainer_code


def prepare_data(experiments: Sequence[Experiment], cache: Path) -> None:
    """Fetch, tokenise and pack what these experiments read, so that runs started together find it ready.

    Raises:
        InputError: a corpus or a tracker that cannot be had, or a setting the text does not allow.
    """
    for experiment in experiments:
        check_tracking(experiment.tracking)
        _check_lengths(experiment, prepare(experiment, cache))


def execute(job: Job, pictures: Pictures = no_pictures) -> Record:
    """Do one run, or finish it where it was stopped; return its record.

    ``pictures`` draws what the trackers show of the finished run; asked only where there are any.

    Raises:
        InputError: the data or the settings do not allow this run; nothing is recorded.
        RunFailed: another process has this run, or the disk is full.
    """
    store = Store(job.folder.parent)
    with store.lock(job.id):
        found = store.read(job.id)
        if found is not None and found.status == "completed":
            return found
        check_tracking(job.experiment.tracking)
        return _execute(job, store, pictures)


def _execute(job: Job, store: Store, pictures: Pictures) -> Record:
    experiment = job.experiment
    started = utc_now()
    clock = time.monotonic()
    set_up_process(experiment.runtime.threads)
    dataset = prepare(experiment, job.cache)
    _check_lengths(experiment, dataset)
    _start(job)
    with open_mirror(job) as mirror:
        record = _train_and_score(job, dataset, started, clock)
        store.write_record(record)
        mirror.summarise(lambda: final_of(job, dataset, record, pictures))
    # A failed run keeps no training state either: --retry-failed is to start anew, not to fail again from its end.
    keep_state = record.status == "completed" and (experiment.runtime.keep_checkpoints or job.keeps_training)
    Checkpoints(job.folder / "checkpoints").clean(keep_state)
    forget_prune(job.folder)
    return record


def _check_lengths(experiment: Experiment, dataset: Dataset) -> None:
    train = dataset.train.stats
    check_budget(max(train.source.longest, train.target.longest) + 1, experiment.train.batch_tokens)
    if experiment.model.position != "learned":
        return
    longest = max(dataset.max_source_length, dataset.max_target_length)
    room = experiment.model.position_max
    if longest > room:
        raise InputError(
            f"model.position_max={room} is shorter than the longest sentence of {experiment.data.corpus}, "
            f"{longest} pieces with its end mark; raise model.position_max"
        )


def _start(job: Job) -> None:
    write_atomic(job.folder / "config.yaml", to_yaml(job.experiment))
    checkpoints = Checkpoints(job.folder / "checkpoints")
    adopted = adopt(job)
    progress = saved_progress(checkpoints)
    if adopted is None and (progress is None or not progress.finished):
        checkpoints.rewind(0 if progress is None else progress.update)
    with EventWriter(job.folder / "events.jsonl") as events:
        if progress is None:
            labels = asdict(job.labels)
            events.write("start", updates=job.experiment.train.updates, labels=labels, changed=list(job.changed))
        else:
            events.write("resume", update=progress.update)


def _train_and_score(job: Job, dataset: Dataset, started: str, clock: float) -> Record:
    checkpoints = Checkpoints(job.folder / "checkpoints")
    adopted = adopted_progress(job)
    before = Progress() if adopted else saved_progress(checkpoints) or Progress()
    try:
        trainers = failure(job)
        if trainers is not None:
            raise Diverged(trainers)
        progress = adopted or fit(job, dataset)
    except (Diverged, Pruned) as error:
        status, cause = "pruned" if isinstance(error, Pruned) else "failed", str(error)
        _finish(job, status, cause)
        progress = saved_progress(checkpoints) or Progress()
        return _record(job, dataset, status, cause, {}, progress, started, before.seconds + time.monotonic() - clock)
    model = evaluated_model(job.experiment, dataset, checkpoints)
    device = torch.device(device_kind(job.experiment))
    metrics = vocabulary_sizes(dataset) | averaged_checkpoints(job.experiment, progress.update)
    for split in job.experiment.evaluate.splits:
        metrics |= evaluate_split(job, dataset, model.to(device), split)
    _finish(job, "completed", progress.cause)
    seconds = before.seconds + time.monotonic() - clock
    return _record(job, dataset, "completed", progress.cause, metrics, progress, started, seconds)


def evaluated_model(experiment: Experiment, dataset: Dataset, checkpoints: Checkpoints) -> AnyNetwork:
    """The model that is scored: last, best, averaged or running-average weights, also written to ``evaluated.pt``."""
    model = build_model(experiment.model, dataset.source_tokenizer.size, dataset.target_tokenizer.size, experiment.seed)
    if not checkpoints.evaluated.is_file():
        chosen = KINDS[experiment.evaluate.checkpoint](experiment.train, checkpoints)
        save_weights(checkpoints.evaluated, chosen)
    model.load_state_dict(load_weights(checkpoints.evaluated))
    return model.eval()


def _finish(job: Job, status: str, cause: str | None) -> None:
    with EventWriter(job.folder / "events.jsonl") as events:
        events.write("finish", status=status, cause=cause)


def _record(
    job: Job,
    dataset: Dataset,
    status: Status,
    cause: str | None,
    metrics: dict[str, Metric],
    progress: Progress,
    started: str,
    wall_seconds: float,
) -> Record:
    experiment = job.experiment
    kind = device_kind(experiment)
    model = build_model(experiment.model, dataset.source_tokenizer.size, dataset.target_tokenizer.size, experiment.seed)
    bleu = next((metric.signature for name, metric in metrics.items() if name.endswith(".bleu")), None)
    return Record(
        id=job.id,
        labels=Labels(job.labels.study, job.labels.row, job.labels.scale),
        seed=experiment.seed,
        config=to_dict(experiment),
        status=status,
        cause=cause,
        metrics=metrics,
        curve=progress.curve,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        source_tokens=progress.source_tokens,
        target_tokens=progress.target_tokens,
        updates=progress.update,
        flops=training_flops(
            experiment.model, dataset.target_tokenizer.size, progress.source_tokens, progress.target_tokens
        ),
        wall_seconds=round(wall_seconds, 3),
        device_seconds=round(wall_seconds * experiment.runtime.devices, 3),
        peak_memory_bytes=_peak_memory(kind),
        stamp=collect(
            threads=experiment.runtime.threads,
            devices=experiment.runtime.devices,
            corpus=experiment.data.corpus,
            corpus_fingerprint=dataset.corpus.fingerprint,
            tokenizer_fingerprint=dataset.tokenizer_fingerprint,
            bleu_signature=bleu,
            deterministic=kind == "cpu" and experiment.train.max_minutes is None and repeatable(job),
            started=started,
        ),
        trained_by=trained_by(job),
        trainer_code=trainer_code(job),
        tuned=job.tuned,
    )


def _peak_memory(kind: str) -> int:
    if kind == "cuda":
        return int(torch.cuda.max_memory_allocated())
    # With several devices the ranks are children, and theirs is the larger one.
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak if sys.platform == "darwin" else peak * 1024
