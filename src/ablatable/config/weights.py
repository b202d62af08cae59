"""Which of a training's weights are evaluated."""

from __future__ import annotations

from dataclasses import dataclass

from ablatable.config.schema import Experiment


@dataclass(frozen=True)
class Weights:
    """``checkpoint`` is last, best or ema; ``averaged`` checkpoints, ``every`` so many updates, make the last."""

    checkpoint: str
    averaged: int = 1
    every: int | None = None

    def left_by(self, trainer: Weights) -> bool:
        """Whether the state of a training that evaluates ``trainer`` holds these too."""
        return self.averaged == 1 or (trainer.every == self.every and trainer.averaged >= self.averaged)


def evaluated_weights(experiment: Experiment) -> Weights:
    """The weights that an experiment is scored with (section 6.1)."""
    train, checkpoint = experiment.train, experiment.evaluate.checkpoint
    if checkpoint == "last" and train.average_last > 1:
        return Weights("last", train.average_last, train.average_every)
    return Weights(checkpoint)
