"""How a sub-layer is wrapped: the order of residual sum, dropout and normalisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Concatenate, ParamSpec

import torch
from torch import Tensor, nn

from ablatable.nn.dropout import Dropout

Given = ParamSpec("Given")
Map = Callable[[Tensor], Tensor]


class Residual(nn.Module, ABC):
    """Runs a sub-layer inside its residual connection.

    Each kind takes ``norm``, which makes a new norm at each call, and the dropout of the sub-layer's output.
    """

    final_norm: ClassVar[bool]
    """Whether a stack of these ends in one more norm, because its last sub-layer does not."""

    def __init__(self, norm: Callable[[], nn.Module], dropout: Dropout) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(
        self,
        x_BTD: Tensor,
        keep_BT: Tensor | None,
        sublayer: Callable[Concatenate[Tensor, Given], Tensor],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Tensor:
        """Run ``sublayer(x, *args)`` on (B, T, D) inside its residual connection; ``keep`` is for the norms."""
        return self.wrap(x_BTD, keep_BT, lambda y_BTD: sublayer(y_BTD, *args, **kwargs))

    @abstractmethod
    def wrap(self, x_BTD: Tensor, keep_BT: Tensor | None, sublayer: Map) -> Tensor:
        """Combine ``x`` with what ``sublayer`` makes of it, (B, T, D)."""


class PostNorm(Residual):
    """norm(x + dropout(f(x))) (section 3.1).

    A stack of these ends normalised and has no final norm.
    """

    final_norm = False

    def __init__(self, norm: Callable[[], nn.Module], dropout: Dropout) -> None:
        super().__init__(norm, dropout)
        self.norm = norm()

    def wrap(self, x_BTD: Tensor, keep_BT: Tensor | None, sublayer: Map) -> Tensor:
        """Normalise the sum."""
        return self.norm(self.dropout.add_to(x_BTD, sublayer(x_BTD)), keep_BT)


class PreNorm(Residual):
    """x + dropout(f(norm(x))) (Xiong et al. 2020), with one norm at the end of the stack."""

    final_norm = True

    def __init__(self, norm: Callable[[], nn.Module], dropout: Dropout) -> None:
        super().__init__(norm, dropout)
        self.norm = norm()

    def wrap(self, x_BTD: Tensor, keep_BT: Tensor | None, sublayer: Map) -> Tensor:
        """Normalise what the sub-layer reads."""
        return self.dropout.add_to(x_BTD, sublayer(self.norm(x_BTD, keep_BT)))


class SandwichNorm(Residual):
    """x + norm'(dropout(f(norm(x)))) (Ding et al. 2021), with one norm at the end of the stack.

    Dropout acts on the sub-layer's output before it is normalised, as section 5.4 says of post-norm.
    """

    final_norm = True

    def __init__(self, norm: Callable[[], nn.Module], dropout: Dropout) -> None:
        super().__init__(norm, dropout)
        self.norm = norm()
        self.output_norm = norm()

    def wrap(self, x_BTD: Tensor, keep_BT: Tensor | None, sublayer: Map) -> Tensor:
        """Normalise what the sub-layer reads and what it writes."""
        return x_BTD + self.output_norm(self.dropout(sublayer(self.norm(x_BTD, keep_BT))), keep_BT)


class ReZero(Residual):
    """x + a dropout(f(x)), one trained number a per sub-layer, from 0; no norm anywhere (Bachlechner et al. 2021).

    At first a stack is the identity, and the first update moves only the gates.
    """

    final_norm = False

    def __init__(self, norm: Callable[[], nn.Module], dropout: Dropout) -> None:
        super().__init__(norm, dropout)
        self.gate = nn.Parameter(torch.empty(1))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """The gate is shut."""
        return torch.zeros(shape)

    def wrap(self, x_BTD: Tensor, keep_BT: Tensor | None, sublayer: Map) -> Tensor:
        """Add what the gate lets through."""
        return self.dropout.add_to(x_BTD, self.gate * sublayer(x_BTD))


KINDS: dict[str, type[Residual]] = {"post": PostNorm, "pre": PreNorm, "sandwich": SandwichNorm, "rezero": ReZero}
"""Residual connections by ``model.norm_placement``."""
