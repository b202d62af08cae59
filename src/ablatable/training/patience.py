"""Early stopping: how many validations in a row may bring nothing better (Prechelt 1998)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ablatable.config.training import Training
from ablatable.training.progress import Progress


@dataclass(frozen=True)
class Validation:
    """One validation, fed the right prefix; padding left out of both.

    ``nll`` is in nats a token, ``accuracy`` the share of tokens that are the most likely class.
    """

    nll: float
    accuracy: float


KINDS: dict[str, Callable[[Validation], float]] = {
    "nll": lambda validation: -validation.nll,
    "accuracy": lambda validation: validation.accuracy,
}
"""By ``train.patience_metric``: what is to rise."""


def runs_out(train: Training, progress: Progress, validation: Validation) -> bool:
    """Count one validation in ``progress``; tell whether it is one too many without a better one."""
    if train.patience is None:
        return False
    merit = KINDS[train.patience_metric](validation)
    if progress.merit is None or merit > progress.merit:
        progress.merit, progress.merit_update, progress.stale = merit, progress.update, 0
        return False
    progress.stale += 1
    return progress.stale >= train.patience


def cause(train: Training, progress: Progress) -> str:
    """Why training ended early, for the record."""
    return (
        f"stopped early at update {progress.update} of {train.updates}: no better {train.patience_metric} in "
        f"{progress.stale} validations since update {progress.merit_update}"
    )
