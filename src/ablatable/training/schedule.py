"""The learning rate by optimiser update (section 5.3): pure functions, so a resumed run cannot restart its warm-up."""

from __future__ import annotations

import math
from collections.abc import Callable

from ablatable.config.training import Training


def learning_rate(update: int, train: Training, d_model: int) -> float:
    """Rate used by update number ``update``, counted from 1.

    Raises:
        ValueError: ``update`` below 1; the formulas have no value there.
    """
    if update < 1:
        raise ValueError(f"updates count from 1, got {update}")
    return KINDS[train.schedule](update, train, d_model)


def peak_setting(train: Training) -> str:
    """The setting that raises and lowers the whole schedule."""
    return "learning_rate_factor" if train.schedule == "paper" else "learning_rate"


def _paper(update: int, train: Training, d_model: int) -> float:
    """``factor * d_model^-0.5 * min(update^-0.5, update * warmup^-1.5)``."""
    return train.learning_rate_factor * d_model**-0.5 * min(update**-0.5, update * train.warmup**-1.5)


def _inverse_sqrt(update: int, train: Training, d_model: int) -> float:
    """Up to the peak, then ``peak * sqrt(warmup / update)`` (Ott et al. 2019)."""
    return train.peak_rate(d_model) * min(update / train.warmup, math.sqrt(train.warmup / update))


def _cosine(update: int, train: Training, d_model: int) -> float:
    """Up to the peak, then half a cosine that ends at ``final_rate * peak`` with the last of ``train.updates``.

    Source: Loshchilov & Hutter 2017, without restarts.
    """
    peak = train.peak_rate(d_model)
    if update <= train.warmup:
        return peak * update / train.warmup
    done = (update - train.warmup) / (train.updates - train.warmup)
    height = 0.5 * (1 + math.cos(math.pi * done))
    return peak * (train.final_rate + (1 - train.final_rate) * height)


def _constant(update: int, train: Training, d_model: int) -> float:
    """Up to the peak, and there to the end."""
    return train.peak_rate(d_model) * min(1.0, update / train.warmup)


KINDS: dict[str, Callable[[int, Training, int], float]] = {
    "paper": _paper,
    "constant": _constant,
    "cosine": _cosine,
    "inverse-sqrt": _inverse_sqrt,
}
"""By ``train.schedule``."""
