"""How a sub-layer is wrapped: the order of residual sum, dropout and normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from torch import Tensor, nn

from ablatable.nn.dropout import Dropout

Given = ParamSpec("Given")


class PostNorm(nn.Module):
    """LayerNorm(x + dropout(sublayer(x))) (section 3.1).

    A stack of these ends normalised and has no final norm.
    """

    def __init__(self, norm: nn.Module, dropout: Dropout) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = dropout

    def forward(
        self,
        x_BTD: Tensor,
        keep_BT: Tensor | None,
        sublayer: Callable[Concatenate[Tensor, Given], Tensor],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Tensor:
        """Run ``sublayer(x, *args)`` on (B, T, D) inside its residual connection; ``keep`` is for the norm."""
        return self.norm(self.dropout.add_to(x_BTD, sublayer(x_BTD, *args, **kwargs)), keep_BT)
