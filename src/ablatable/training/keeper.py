"""The callback that reports, validates, saves and stops: everything a run does between updates."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch

from ablatable.data.packed import PackedPairs
from ablatable.record.events import EventWriter
from ablatable.record.prune import asked_to_prune
from ablatable.record.schema import CurvePoint
from ablatable.training.checkpoint import Checkpoints, atomically, save_weights
from ablatable.training.evaluate import split_sums
from ablatable.training.module import Diverged, Pruned, TranslationModule
from ablatable.training.patience import Validation, cause, runs_out
from ablatable.training.schedule import learning_rate, peak_setting
from ablatable.training.stream import MicroBatch

_LOOK_EVERY = 10
"""Updates between looks at the clock; the clock of rank 0 decides for all."""
_REPORT_SECONDS = 2.0


class Keeper(pl.Callback):
    """Writes the ledger and the checkpoints of one run. Rank 0 writes; every rank takes part in sums and saves."""

    def __init__(self, events: Path, checkpoints: Checkpoints, valid: PackedPairs) -> None:
        super().__init__()
        self._events_path = events
        self._checkpoints = checkpoints
        self._valid = valid
        self._events: EventWriter | None = None
        self._clock = 0.0
        self._reported = 0.0
        self._saved = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Open the ledger where this rank writes it and start the clock."""
        if trainer.is_global_zero:
            self._events = EventWriter(self._events_path)
        self._clock = self._reported = self._saved = time.monotonic()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Close the ledger."""
        if self._events is not None:
            self._events.close()

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        outputs: Any,
        batch: MicroBatch,
        batch_idx: int,
    ) -> None:
        """After the last pass of an update, do what is due."""
        if batch.part != batch.passes - 1:
            return
        assert isinstance(pl_module, TranslationModule)
        train = pl_module.experiment.train
        update = batch.update
        spent = update >= train.updates or (
            train.max_target_tokens is not None and pl_module.progress.target_tokens >= train.max_target_tokens
        )
        due_report, due_save, out_of_time, wish = (
            self._look(trainer, pl_module) if update % _LOOK_EVERY == 0 else (False, False, False, None)
        )
        if wish is not None:
            raise Pruned(wish)
        done = spent or out_of_time
        due_valid = update % train.validate_every == 0 or done
        if due_report or due_valid or due_save:
            self._report(trainer, pl_module)
        if due_valid:
            validation = self._validate(trainer, pl_module)
            done = done or _gives_up(pl_module, validation)
        if train.average_last > 1 and (update % train.average_every == 0 or done) and trainer.is_global_zero:
            self._checkpoints.keep_for_average(pl_module.model.state_dict(), update, train.average_last)
        if done:
            pl_module.progress.finished = True
            trainer.should_stop = True
        if due_save or due_valid:
            self._save(trainer)

    def _look(self, trainer: pl.Trainer, module: TranslationModule) -> tuple[bool, bool, bool, str | None]:
        now = time.monotonic()
        minutes = module.experiment.train.max_minutes
        seconds = module.progress.seconds + now - self._clock
        decision = (
            now - self._reported >= _REPORT_SECONDS,
            now - self._saved >= module.experiment.runtime.save_seconds,
            minutes is not None and seconds >= 60 * minutes,
            asked_to_prune(self._events_path.parent, os.getpgrp()),
        )
        return trainer.strategy.broadcast(decision) if trainer.world_size > 1 else decision

    def _report(self, trainer: pl.Trainer, module: TranslationModule) -> None:
        smoothed, nll, tokens = _over_ranks(trainer, *module.take_sums())
        now = time.monotonic()
        progress = module.progress
        # Decided on the sums over all ranks, so that every rank stops here for the same cause.
        if not (math.isfinite(smoothed) and math.isfinite(nll)):
            raise Diverged(
                f"the training loss was not finite at or before update {progress.update}; "
                f"lower train.{peak_setting(module.experiment.train)} or raise train.warmup"
            )
        progress.seconds += now - self._clock
        self._clock = self._reported = now
        progress.window_nll += nll
        progress.window_tokens += int(tokens)
        if self._events is not None and tokens:
            experiment = module.experiment
            self._events.write(
                "train",
                update=progress.update,
                updates=experiment.train.updates,
                loss=round(smoothed / tokens, 6),
                nll=round(nll / tokens, 6),
                learning_rate=learning_rate(progress.update, experiment.train, experiment.model.d_model),
                source_tokens=progress.source_tokens,
                target_tokens=progress.target_tokens,
                seconds=round(progress.seconds, 3),
            )

    def _validate(self, trainer: pl.Trainer, module: TranslationModule) -> Validation:
        with trainer.precision_plugin.forward_context():
            mine = split_sums(module.model, self._valid, module.device, trainer.global_rank, trainer.world_size)
        total, correct, tokens = _over_ranks(trainer, mine.nll, mine.correct, mine.tokens)
        nll, accuracy = round(total / tokens, 6), round(correct / tokens, 6)
        progress = module.progress
        if not math.isfinite(nll):
            raise Diverged(f"the validation loss was not finite at update {progress.update}")
        progress.curve.append(
            CurvePoint(
                update=progress.update,
                valid_nll=nll,
                train_nll=round(progress.window_nll / max(1, progress.window_tokens), 6),
                seconds=round(progress.seconds, 3),
                source_tokens=progress.source_tokens,
                target_tokens=progress.target_tokens,
            )
        )
        progress.window_nll, progress.window_tokens = 0.0, 0
        if progress.best_nll is None or nll < progress.best_nll:
            progress.best_nll, progress.best_update = nll, progress.update
            if trainer.is_global_zero:
                save_weights(self._checkpoints.best, module.model.state_dict())
        if self._events is not None:
            ppl = progress.curve[-1].valid_ppl
            self._events.write("valid", update=progress.update, nll=nll, ppl=ppl, accuracy=accuracy)
        now = time.monotonic()
        progress.seconds += now - self._clock
        self._clock = now
        return Validation(nll, accuracy)

    def _save(self, trainer: pl.Trainer) -> None:
        path = self._checkpoints.last
        if trainer.is_global_zero:
            atomically(path, trainer.save_checkpoint)
        else:
            trainer.save_checkpoint(path)  # takes part, writes nothing
        if trainer.world_size > 1:
            trainer.strategy.barrier()
        self._saved = time.monotonic()


def _gives_up(module: TranslationModule, validation: Validation) -> bool:
    """Whether ``train.patience`` ends training here; the record then says so."""
    train, progress = module.experiment.train, module.progress
    if not runs_out(train, progress, validation):
        return False
    progress.cause = cause(train, progress)
    return True


def _over_ranks(trainer: pl.Trainer, first: float, second: float, third: float) -> tuple[float, float, float]:
    if trainer.world_size == 1:
        return first, second, third
    sums = torch.tensor([first, second, third], dtype=torch.float64, device=trainer.strategy.root_device)
    torch.distributed.all_reduce(sums)
    return float(sums[0]), float(sums[1]), float(sums[2])
