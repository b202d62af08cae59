"""The LightningModule: forward, token-normalised loss, the optimiser at the rate of its schedule (section 5.3)."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import pytorch_lightning as pl
import torch
from torch import Tensor

from ablatable.config.schema import Experiment
from ablatable.nn.network import AnyNetwork
from ablatable.training.ema import RunningAverage
from ablatable.training.evaluate import batch_losses
from ablatable.training.loss import Smoothing
from ablatable.training.optimiser import finish_gradient, make_optimizer
from ablatable.training.progress import Progress
from ablatable.training.schedule import learning_rate
from ablatable.training.stream import MicroBatch


class Diverged(Exception):
    """The loss stopped being a finite number; the message is the run's cause of failure."""


class Pruned(Exception):
    """A sweep asked this run to end early; the message says why."""


class TranslationModule(pl.LightningModule):
    """Trains one model. Metrics gather in tensors and are read once per report, never by per-step ``self.log``."""

    def __init__(self, model: AnyNetwork, experiment: Experiment, smoothing: Smoothing | None) -> None:
        super().__init__()
        self.model = model
        self.experiment = experiment
        self.smoothing = smoothing
        self.running_average = (
            RunningAverage(experiment.train.ema_decay) if experiment.evaluate.checkpoint == "ema" else None
        )
        self.progress = Progress()
        self.rank_weight = 1.0
        """Undoes DDP's averaging over ranks and Lightning's over passes: the loss is normalised by tokens already."""
        self._sums: list[Tensor] = []
        self._tokens = 0

    def training_step(self, item: MicroBatch, batch_idx: int) -> Tensor:
        """One pass of one device; Lightning adds up the passes of an update."""
        seed_noise(self.device, noise_seed(self.experiment.seed, item.update, item.part, self.global_rank))
        sums = batch_losses(self.model, item.batch, self.smoothing)
        self._sums.append(torch.stack([sums.smoothed.detach(), sums.nll]))
        self._tokens += sums.tokens
        if item.part == item.passes - 1:
            self.progress.update = item.update
            self.progress.epoch, self.progress.epoch_batches = item.began.epoch, item.began.batches
            self.progress.source_tokens += item.update_source_tokens
            self.progress.target_tokens += item.update_tokens
        return sums.smoothed * (self.rank_weight / item.update_tokens)

    def take_sums(self) -> tuple[float, float, int]:
        """Smoothed loss sum, NLL sum (nats) and tokens of this rank since the last call; finite or not."""
        if not self._sums:
            return 0.0, 0.0, 0
        smoothed, nll = cast(list[float], torch.stack(self._sums).double().sum(dim=0).tolist())
        tokens = self._tokens
        self._sums, self._tokens = [], 0
        return smoothed, nll, tokens

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam or AdamW, at the rate of the first update."""
        return make_optimizer(self.model, self.experiment.train, self._rate(1))

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Once an update, over the gradient of all its passes and ranks."""
        finish_gradient(self.model, self.experiment.train)

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Any = None) -> None:
        """Set the rate of the update that is about to happen, then make it."""
        update = self.trainer.global_step + 1
        for group in optimizer.param_groups:
            group["lr"] = self._rate(update)
        optimizer.step(closure=optimizer_closure)
        if self.running_average is not None:
            self.running_average.add(self.model, update)

    def _rate(self, update: int) -> float:
        return learning_rate(update, self.experiment.train, self.experiment.model.d_model)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add the counters, and the running average where there is one."""
        checkpoint["progress"] = self.progress.state()
        if self.running_average is not None:
            checkpoint["ema"] = self.running_average.weights(self.model)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Take them back."""
        self.progress = Progress.restored(checkpoint["progress"])
        if self.running_average is not None:
            self.running_average.restore(checkpoint["ema"])


def seed_noise(device: torch.device, seed: int) -> None:
    """Seed the generators that this device's dropout draws from.

    ``torch.manual_seed`` gives the same numbers, but notes a stack trace for each accelerator that might be used later:
    over a millisecond a step inside the Trainer.
    """
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def noise_seed(seed: int, update: int, part: int, rank: int) -> int:
    """Seed of the dropout masks of one pass: paired rows share their noise, and a resumed run repeats it."""
    text = f"noise:{seed}:{update}:{part}:{rank}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1
