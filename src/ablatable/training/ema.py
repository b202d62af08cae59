"""The exponential moving average of the weights, for ``evaluate.checkpoint=ema``."""

from __future__ import annotations

import torch
from torch import nn

from ablatable.training.checkpoint import Weights


class RunningAverage:
    """Mean of the weights after every update, the latest weighing most (Kingma & Ba 2015, section 7.2).

    ``a_t = d a_(t-1) + (1 - d) w_t`` divided by ``1 - d^t``, which takes out the start from nothing: the first average
    is the first weights, and initial values have no part in it. Kept in float32, running statistics of norms included.
    A tensor with several names is averaged once.
    """

    def __init__(self, decay: float) -> None:
        self._decay = decay
        self._averages: Weights = {}

    @torch.no_grad()
    def add(self, model: nn.Module, update: int) -> None:
        """Take in the weights that update number ``update`` (from 1, none left out) has made."""
        share = (1 - self._decay) / (1 - self._decay**update)
        state = model.state_dict()
        for name in set(_first_names(state).values()):
            tensor = state[name]
            if update == 1:
                self._averages[name] = tensor.clone()
                continue
            average = self._averages[name].to(tensor.device)
            # A count, such as that of a norm's batches, has no mean: the latest holds.
            self._averages[name] = average.lerp_(tensor, share) if tensor.is_floating_point() else tensor.clone()

    def weights(self, model: nn.Module) -> Weights:
        """The average under the names of the model's own state."""
        return {name: self._averages[first] for name, first in _first_names(model.state_dict()).items()}

    def restore(self, weights: Weights) -> None:
        """Go on from what :meth:`weights` gave."""
        self._averages = dict(weights)


def _first_names(state: Weights) -> dict[str, str]:
    """For each name the first one that stands for the same memory."""
    first: dict[tuple[int, torch.Size], str] = {}
    return {name: first.setdefault((tensor.data_ptr(), tensor.shape), name) for name, tensor in state.items()}
