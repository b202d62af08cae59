"""Normalisation of the residual stream.

Each class has ``forward(x, keep)``: ``x`` (..., D), and ``keep`` (...) bool, False at padding; None: no padding.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis, with the biased variance.

    Source: Ba et al. 2016, as section 3.1 cites it.
    """

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Weight 1, bias 0."""
        return torch.ones(shape) if name == "weight" else torch.zeros(shape)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Normalise the last axis; ``keep`` (all but the last axis) is of no use to this norm."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)
