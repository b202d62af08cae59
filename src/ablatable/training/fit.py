"""Training proper: one Trainer, one or several devices, from nothing or from the last checkpoint."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from pickle import UnpicklingError
from typing import Literal

import pytorch_lightning as pl
import torch
from pytorch_lightning.strategies import DDPStrategy, Strategy
from torch.multiprocessing.spawn import ProcessRaisedException
from torch.utils.data import DataLoader

from ablatable.config.schema import Experiment
from ablatable.data.augment import augmentation_of
from ablatable.data.dataset import Dataset
from ablatable.errors import InputError, RunFailed
from ablatable.nn.build import build_model
from ablatable.record.job import Job
from ablatable.training.checkpoint import Checkpoints
from ablatable.training.keeper import Keeper
from ablatable.training.loss import smoothing_of
from ablatable.training.module import Diverged, Pruned, TranslationModule
from ablatable.training.prior import label_counts
from ablatable.training.progress import Progress
from ablatable.training.stream import EpochStart, MicroBatch, UpdateStream

_PRECISION: dict[str, Literal["32-true", "bf16-mixed"]] = {"fp32": "32-true", "bf16": "bf16-mixed"}


class _FittedModule(TranslationModule):
    """Adds the training text, which each rank opens for itself once it knows its rank."""

    def __init__(self, dataset: Dataset, experiment: Experiment) -> None:
        model = build_model(
            experiment.model, dataset.source_tokenizer.size, dataset.target_tokenizer.size, experiment.seed
        )
        smoothing = smoothing_of(experiment.train, lambda: label_counts(dataset.train, dataset.target_tokenizer.size))
        super().__init__(model, experiment, smoothing)
        self._pairs = dataset.train
        self._augmentation = augmentation_of(experiment, dataset.source_tokenizer, dataset.target_tokenizer)

    def setup(self, stage: str) -> None:
        set_up_process(self.experiment.runtime.threads)

    def train_dataloader(self) -> DataLoader[MicroBatch]:
        train = self.experiment.train
        stream = UpdateStream(
            self._pairs,
            batch_tokens=train.batch_tokens,
            accumulate=train.accumulate,
            micro_batches=self.experiment.runtime.micro_batches,
            seed=self.experiment.seed,
            rank=self.trainer.global_rank,
            ranks=self.trainer.world_size,
            first=self.progress.update + 1,
            since=EpochStart(self.progress.epoch, self.progress.epoch_batches),
            augmentation=self._augmentation,
        )
        self.rank_weight = float(self.trainer.world_size * stream.passes)
        return DataLoader(stream, batch_size=None)

    def transfer_batch_to_device(self, batch: MicroBatch, device: torch.device, dataloader_idx: int) -> MicroBatch:
        return replace(batch, batch=batch.batch.to(device))


def set_up_process(threads: int) -> None:
    """What every process that trains or scores sets first: its threads, and float32 that is float32.

    By default cuDNN rounds convolutions and recurrences to TF32 and cuBLAS does not round products, so that rows of one
    table would differ in precision.
    """
    torch.set_num_threads(threads)
    torch.backends.cudnn.allow_tf32 = False


def device_kind(experiment: Experiment) -> Literal["cpu", "cuda"]:
    """Where this run trains.

    Raises:
        InputError: CUDA was asked for and there is none, or fewer devices than asked for.
    """
    wanted = experiment.runtime.accelerator
    present = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wanted == "cpu" or (wanted == "auto" and not present):
        return "cpu"
    if experiment.runtime.devices > present:
        raise InputError(
            f"runtime.devices={experiment.runtime.devices} and this process sees {present} CUDA devices; "
            "lower runtime.devices or set runtime.accelerator=cpu"
        )
    return "cuda"


def fit(job: Job, dataset: Dataset) -> Progress:
    """Train to the end of the budget, resuming where a checkpoint is; the weights are on disk afterwards.

    Raises:
        Diverged: the loss stopped being finite.
        Pruned: a sweep asked for it.
        RunFailed: the disk is full.
    """
    _quiet()
    checkpoints = Checkpoints(job.folder / "checkpoints")
    progress = saved_progress(checkpoints)
    if progress is not None and progress.finished:
        return progress
    experiment = job.experiment
    module = _FittedModule(dataset, experiment)
    if progress is not None:
        module.progress = progress
    keeper = Keeper(job.folder / "events.jsonl", checkpoints, dataset.valid)
    trainer = _trainer(job, keeper)
    try:
        trainer.fit(module, ckpt_path=str(checkpoints.last) if progress is not None else None, weights_only=False)
    except ProcessRaisedException as error:
        raise told_by_rank(error.msg) or error from None
    finished = saved_progress(checkpoints)
    if finished is None or not finished.finished:
        raise RuntimeError("training stopped before its budget was spent")
    return finished


def told_by_rank(trace: str) -> Exception | None:
    """The exception of ours that ended a rank; a rank is another process and sends its traceback as text."""
    last = trace.strip().rpartition("\n")[2]
    for kind in (Diverged, Pruned, RunFailed, InputError):
        name = f"{kind.__module__}.{kind.__qualname__}: "
        if last.startswith(name):
            return kind(last.removeprefix(name))
    return None


def saved_progress(checkpoints: Checkpoints) -> Progress | None:
    """Counters of the last checkpoint, or None before the first."""
    if not checkpoints.last.is_file():
        return None
    try:
        state = torch.load(checkpoints.last, map_location="cpu", weights_only=False, mmap=True)
    except (RuntimeError, EOFError, OSError, ValueError, UnpicklingError) as error:
        raise InputError(
            f"{checkpoints.last} is damaged ({type(error).__name__}); delete the run's folder and run it again"
        ) from error
    return Progress.restored(state["progress"])


def _trainer(job: Job, keeper: Keeper) -> pl.Trainer:
    experiment = job.experiment
    runtime = experiment.runtime
    kind = device_kind(experiment)
    # spawn: a fork would inherit OpenMP and CUDA state that does not survive it.
    strategy: str | Strategy = (
        "auto"
        if runtime.devices == 1
        else DDPStrategy(start_method="spawn", process_group_backend="gloo" if kind == "cpu" else "nccl")
    )
    return pl.Trainer(
        accelerator=kind,
        devices=runtime.devices,
        strategy=strategy,
        precision=_PRECISION[experiment.train.precision],
        max_steps=experiment.train.updates,
        max_epochs=-1,
        accumulate_grad_batches=experiment.train.accumulate * runtime.micro_batches,
        callbacks=[keeper],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
        limit_val_batches=0,
        default_root_dir=job.folder,
    )


def _quiet() -> None:
    # The ledger reports; Lightning's banners and its advice on workers and loggers would fill the log.
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"pytorch_lightning.*")
    warnings.filterwarnings("ignore", message=r".*isinstance\(treespec, LeafSpec\).*")
