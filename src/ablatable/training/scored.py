"""Which weights of a training are scored, by ``evaluate.checkpoint``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ablatable.config.schema import Experiment
from ablatable.config.training import Training
from ablatable.config.weights import evaluated_weights
from ablatable.record.schema import Metric
from ablatable.training.checkpoint import Checkpoints, Weights, average, load_weights


def _last(train: Training, checkpoints: Checkpoints) -> Weights:
    """The last, or the mean of the last ``train.average_last`` (section 6.1), of all where there are fewer."""
    if train.average_last > 1:
        return average(checkpoints.numbered()[-train.average_last :])
    return {name.removeprefix("model."): tensor for name, tensor in _state(checkpoints)["state_dict"].items()}


def averaged_checkpoints(experiment: Experiment, updates: int) -> dict[str, Metric]:
    """How many checkpoints were averaged, where that was asked for: fewer when training ended early."""
    if evaluated_weights(experiment).averaged == 1:
        return {}
    return {"averaged_checkpoints": Metric(float(experiment.train.averaged(updates)), "checkpoints")}


def _best(train: Training, checkpoints: Checkpoints) -> Weights:
    """Those of the lowest validation NLL."""
    return load_weights(checkpoints.best)


def _ema(train: Training, checkpoints: Checkpoints) -> Weights:
    """The running average over all updates."""
    return _state(checkpoints)["ema"]


def _state(checkpoints: Checkpoints) -> dict[str, Any]:
    return torch.load(checkpoints.last, map_location="cpu", weights_only=False)


KINDS: dict[str, Callable[[Training, Checkpoints], Weights]] = {"last": _last, "best": _best, "ema": _ema}
"""By ``evaluate.checkpoint``; each reads what training left in the run's folder."""
