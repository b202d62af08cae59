"""What a finished run has left of its weights for runs that trained the same; looks at file names alone, no torch."""

from __future__ import annotations

from pathlib import Path

from ablatable.config.identity import weights_id
from ablatable.config.schema import Experiment
from ablatable.config.weights import evaluated_weights
from ablatable.training.retention import BEST, EVALUATED, LAST, averaged_parts


def offered(
    checkpoints: Path, trained: Experiment, updates: int, wanted: Experiment, fingerprint: str | None
) -> list[Path]:
    """What one experiment needs of the checkpoints of another; nothing where it is not all there.

    Args:
        checkpoints: the folder of the run that trained.
        trained: its experiment, of the same training.
        updates: after how many it ended.
        wanted: the experiment that asks.
        fingerprint: of the corpus both read.
    """
    weights, best, evaluated = evaluated_weights(wanted), checkpoints / BEST, checkpoints / EVALUATED
    if weights.checkpoint == "best":
        return [best] if best.is_file() else []
    if evaluated.is_file() and weights_id(trained, fingerprint) == weights_id(wanted, fingerprint):
        return [evaluated]
    if not weights.left_by(evaluated_weights(trained)) or not (checkpoints / LAST).is_file():
        return []
    made = wanted.train.averaged(updates) if weights.averaged > 1 else 0
    averages = averaged_parts(checkpoints)[-made:] if made else []
    return [*averages, checkpoints / LAST] if len(averages) == made else []
