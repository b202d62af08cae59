"""Initial values, drawn from one random generator per parameter *name*.

Two models with the same seed share every parameter of the same name, shape and kind, wherever else they
differ, so that the rows of an ablation are paired.

Linear maps and convolutions take Glorot uniform weights, U(-a, a) with a = sqrt(6 / (inputs + outputs)), and biases 0;
of a fused projection ``outputs`` is the fused width (3 h d_k for q/k/v when d_v = d_k), as in the first public code.
Every other part says its own in ``initial_values`` (:mod:`ablatable.nn.initial`).
"""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor, nn

from ablatable.nn.initial import HasInitialValues, glorot_uniform


def initialise(model: nn.Module, seed: int) -> None:
    """Set every parameter of ``model`` in place, from ``seed`` and its name.

    Raises:
        TypeError: a module has parameters and does not say their initial values.
    """
    for name, parameter in model.named_parameters():
        module_name, _, own_name = name.rpartition(".")
        values = _initial(model.get_submodule(module_name), own_name, parameter.shape, _generator(seed, name))
        with torch.no_grad():
            parameter.copy_(values)


def _generator(seed: int, name: str) -> torch.Generator:
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big", signed=True))


def _initial(module: nn.Module, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
    if isinstance(module, HasInitialValues):
        return module.initial_values(name, shape, generator)
    if isinstance(module, nn.Linear | nn.Conv1d):
        return glorot_uniform(shape, generator) if name == "weight" else torch.zeros(shape)
    raise TypeError(f"no initial values are declared for {type(module).__name__}.{name}")
