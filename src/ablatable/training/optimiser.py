"""From the gradient of a whole update to the step: penalties, clipping, Adam with or without decoupled decay.

Penalties and decay act on matrices, that is on every parameter with two axes or more: projections, convolutions,
embeddings and other tables. Biases, norms and single factors are left alone.
"""

from __future__ import annotations

import torch
from torch import nn

from ablatable.config.training import Training


def is_matrix(parameter: nn.Parameter) -> bool:
    """Whether penalties and decay act on this parameter."""
    return parameter.ndim >= 2


def make_optimizer(model: nn.Module, train: Training, rate: float) -> torch.optim.Optimizer:
    """Adam (section 5.3), or AdamW (Loshchilov & Hutter 2019) where ``train.weight_decay`` is above 0."""
    betas = (train.beta1, train.beta2)
    if not train.weight_decay:
        return torch.optim.Adam(model.parameters(), lr=rate, betas=betas, eps=train.adam_epsilon, fused=True)
    parameters = list(model.parameters())
    groups = [
        {"params": [one for one in parameters if is_matrix(one)], "weight_decay": train.weight_decay},
        {"params": [one for one in parameters if not is_matrix(one)], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=betas, eps=train.adam_epsilon, fused=True)


@torch.no_grad()
def finish_gradient(model: nn.Module, train: Training) -> None:
    """Complete the gradient of an update, once it is summed over all its passes and ranks: penalties, then clipping.

    The penalties' gradients, ``l1 sign(w)`` and ``l2 w``, are added here and not in the loss of a pass, so that how an
    update is split cannot count them twice.
    """
    if train.l1 or train.l2:
        for parameter in filter(is_matrix, model.parameters()):
            if parameter.grad is None:  # the data did not reach it; the penalty does
                parameter.grad = torch.zeros_like(parameter)
            parameter.grad.add_(parameter.sign(), alpha=train.l1).add_(parameter, alpha=train.l2)
    if train.clip_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), train.clip_norm)
