"""The learning rate of the paper, by optimiser update (section 5.3)."""

from __future__ import annotations

from ablatable.config.training import Training


def learning_rate(update: int, train: Training, d_model: int) -> float:
    """Rate used by update number ``update``, counted from 1.

    ``factor * d_model^-0.5 * min(update^-0.5, update * warmup^-1.5)``: a pure function of the count, so a resumed
    run cannot restart its warm-up.

    Raises:
        ValueError: ``update`` below 1; the formula has no value there.
    """
    if update < 1:
        raise ValueError(f"updates count from 1, got {update}")
    return train.learning_rate_factor * d_model**-0.5 * min(update**-0.5, update * train.warmup**-1.5)
