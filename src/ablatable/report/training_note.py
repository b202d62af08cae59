"""How the base row was trained, and which of its weights were scored, in words: every convention by its name."""

from __future__ import annotations

from collections.abc import Iterator

from ablatable.config.schema import Experiment
from ablatable.config.training import Training
from ablatable.config.tree import leaves
from ablatable.report import rounding


def training_note(experiment: Experiment) -> str:
    """One sentence on loss, budget and optimiser."""
    train = experiment.train
    batch = f"{train.batch_tokens * train.accumulate:,} tokens a side"
    said = [
        _smoothing(train),
        f"{train.updates:,} updates of {batch}",
        f"warm-up {train.warmup:,}",
        _schedule(train, experiment.model.d_model),
        *_beside(train),
        train.precision,
    ]
    return f"Training of the base row: {', '.join(said)}."


def checkpoint_note(experiment: Experiment) -> str:
    """Which weights were scored."""
    train = experiment.train
    if experiment.evaluate.checkpoint == "ema":
        return f"exponential average of the weights of all updates, decay {train.ema_decay:g}"
    if train.average_last > 1:
        return f"average of the last {train.average_last} checkpoints"
    return f"{experiment.evaluate.checkpoint} checkpoint, not averaged"


def _smoothing(train: Training) -> str:
    if not train.label_smoothing:
        return "no label smoothing"
    said = f"label smoothing {train.label_smoothing}"
    if train.smoothing_mass == "uniform":
        return f"{said} as (1 {rounding.MINUS} a) y + a/K over all K classes"
    axis = leaves()["train.smoothing_mass"].axis
    assert axis is not None
    return f"{said} with mass {train.smoothing_mass} ({axis.choices[train.smoothing_mass]})"


def _schedule(train: Training, d_model: int) -> str:
    if train.schedule == "paper":
        return f"learning-rate factor {train.learning_rate_factor:g}"
    end = f" to {train.final_rate:g} of it" if train.schedule == "cosine" else ""
    return f"{train.schedule} schedule from a peak of {train.peak_rate(d_model):g}{end}"


def _beside(train: Training) -> Iterator[str]:
    if train.l1:
        yield f"penalty {train.l1:g} sum |w| over matrices"
    if train.l2:
        yield f"penalty {train.l2:g}/2 sum w^2 over matrices"
    if train.weight_decay:
        yield f"decoupled weight decay {train.weight_decay:g} of matrices"
    if train.clip_norm is not None:
        yield f"gradient of an update clipped to norm {train.clip_norm:g}"
    if train.patience is not None:
        yield f"fewer updates where {train.patience} validations in a row bring no better {train.patience_metric}"
    if train.max_target_tokens is not None:
        yield f"fewer updates where {train.max_target_tokens:,} target tokens are read before"
    if train.max_minutes is not None:
        yield f"fewer updates where {train.max_minutes:g} minutes are over before"
