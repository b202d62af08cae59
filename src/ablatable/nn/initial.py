"""The kinds of initial values; each part with parameters of its own says which it takes.

Such a part has ``initial_values(name, shape, generator) -> Tensor`` beside its parameters, so that nothing but its own
file knows of them. Linear maps are known to :mod:`ablatable.nn.init`.
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class HasInitialValues(Protocol):
    """A module that knows the initial values of its own parameters."""

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Values of the parameter ``name`` of this module (not of its children)."""
        ...


def glorot_uniform(shape: torch.Size, generator: torch.Generator) -> Tensor:
    """U(-a, a), a = sqrt(6 / (inputs + outputs)): a matrix (outputs, inputs) or a kernel (outputs, inputs, width)."""
    window = math.prod(shape[2:])
    bound = math.sqrt(6.0 / ((shape[0] + shape[1]) * window))
    return torch.empty(shape).uniform_(-bound, bound, generator=generator)


def scaled_normal(shape: torch.Size, generator: torch.Generator) -> Tensor:
    """N(0, 1/width) of a table (rows, width)."""
    return torch.empty(shape).normal_(0.0, shape[-1] ** -0.5, generator=generator)
