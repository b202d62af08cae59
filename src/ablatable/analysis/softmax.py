"""How far a softmax is from even, and how much gradient comes through it.

Every function takes weights (..., S) that sum to 1 over the last axis, and returns (...).
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor


def entropy(weights: Tensor) -> Tensor:
    """-sum w ln w, nats."""
    return cast(Tensor, torch.special.entr(weights)).sum(-1)


def effective(weights: Tensor) -> Tensor:
    """exp(entropy): the number of positions that evenly shared weights of this entropy would attend to."""
    return entropy(weights).exp()


def largest(weights: Tensor) -> Tensor:
    """The largest weight."""
    return weights.amax(-1)


def gradient(weights: Tensor) -> Tensor:
    """Frobenius norm of the softmax's Jacobian, diag(w) - w w^T.

    It is the root-mean-square length of the gradient that reaches the scores where that of the weights is random, with
    mean 0 and variance 1: its square is sum w^2 - 2 sum w^3 + (sum w^2)^2. At most 1/2 (two even weights), sqrt(1/n -
    1/n^2) where n weights are even, 0 where one weight is 1.
    """
    squares = weights.square().sum(-1)
    return (squares - 2 * weights.pow(3).sum(-1) + squares.square()).clamp(min=0).sqrt()


MEASURES = {"entropy": entropy, "effective": effective, "largest": largest, "gradient": gradient}
"""By the names under which the data of an analysis has them."""
