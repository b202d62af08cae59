"""A linear layer whose values are left to :mod:`ablatable.nn.init`."""

from __future__ import annotations

from typing import cast

from torch import nn


def linear(inputs: int, outputs: int, bias: bool) -> nn.Linear:
    """Return an ``nn.Linear`` with unset values, without drawing from the global random generator."""
    return cast(nn.Linear, nn.utils.skip_init(nn.Linear, inputs, outputs, bias=bias))
