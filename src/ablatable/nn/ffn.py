"""The position-wise feed-forward sub-layer (section 3.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ablatable.nn.linear import linear


class ReluFeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2, without dropout inside."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = linear(d_model, d_ff, bias=True)
        self.outer = linear(d_ff, d_model, bias=True)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Map each position alone, (B, T, D) to (B, T, D)."""
        # Two axes, because an in-place ReLU on a view of the product would make autograd copy the gradient.
        x_ND = x_BTD.flatten(0, -2)
        return self.outer(torch.relu_(self.inner(x_ND))).view_as(x_BTD)
