"""The position-wise feed-forward sub-layer (section 3.3).

Shapes: B batch, T positions, D d_model, F inner width, N = B*T. Every kind drops out inside, at the rate
``model.dropout_ffn``, what its activation (SwiGLU: its product) gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.nn.dropout import Dropout
from ablatable.nn.linear import linear


class FeedForward(nn.Module, ABC):
    """Maps each position alone; ``width`` is F and ``dropout`` the rate inside."""

    def __init__(self, d_model: int, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    @classmethod
    def of(cls, model: Model) -> Self:
        """As ``model`` asks for it."""
        return cls(model.d_model, model.ffn_width, model.dropout_ffn)

    @abstractmethod
    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""


class ReluFeedForward(FeedForward):
    """max(0, x W1 + b1) W2 + b2 (section 3.3)."""

    def __init__(self, d_model: int, width: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, width, dropout)
        self.inner = linear(d_model, width, bias=True)
        self.outer = linear(width, d_model, bias=True)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        # Two axes, because an in-place ReLU on a view of the product would make autograd copy the gradient.
        x_ND = x_BTD.flatten(0, -2)
        return self.outer(self.dropout(torch.relu_(self.inner(x_ND)))).view_as(x_BTD)


class GeluFeedForward(FeedForward):
    """gelu(x W1 + b1) W2 + b2, gelu(y) = y Phi(y) with the exact normal distribution (Hendrycks & Gimpel 2016)."""

    def __init__(self, d_model: int, width: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, width, dropout)
        self.inner = linear(d_model, width, bias=True)
        self.outer = linear(width, d_model, bias=True)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        return self.outer(self.dropout(F.gelu(self.inner(x_BTD))))


class SwiGLUFeedForward(FeedForward):
    """(silu(x Wg + bg) * (x W1 + b1)) W2 + b2, silu(y) = y sigmoid(y) (Shazeer 2020).

    The source has no biases. Here they stay: so only the activation differs from ReLU's sub-layer, and with an inner
    width of round(2/3 d_ff) the parameters come nearest to its (base: 170 more than 2,099,712; without biases 3,072
    fewer).
    """

    def __init__(self, d_model: int, width: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, width, dropout)
        self.gate = linear(d_model, width, bias=True)
        self.inner = linear(d_model, width, bias=True)
        self.outer = linear(width, d_model, bias=True)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        return self.outer(self.dropout(F.silu(self.gate(x_BTD)) * self.inner(x_BTD)))


class ConvolutionFeedForward(FeedForward):
    """Two convolutions of kernel size 1 around a ReLU, "another way of describing this" (section 3.3).

    The same function as :class:`ReluFeedForward`, and with the same seed the same initial values. (Dropout inside, were
    it on, would fall on other elements.)
    """

    def __init__(self, d_model: int, width: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, width, dropout)
        self.inner = _convolution(d_model, width)
        self.outer = _convolution(width, d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        inner_BFT = torch.relu(self.inner(x_BTD.transpose(1, 2)))
        return self.outer(self.dropout(inner_BFT)).transpose(1, 2)


def _convolution(inputs: int, outputs: int) -> nn.Conv1d:
    return cast(nn.Conv1d, nn.utils.skip_init(nn.Conv1d, inputs, outputs, kernel_size=1))


KINDS: dict[str, type[FeedForward] | None] = {
    "relu": ReluFeedForward,
    "gelu": GeluFeedForward,
    "swiglu": SwiGLUFeedForward,
    "conv1x1": ConvolutionFeedForward,
    "none": None,
}
"""Feed-forward sub-layers by ``model.ffn``; None: there is no such sub-layer."""
