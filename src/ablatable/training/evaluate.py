"""Unsmoothed NLL and accuracy of a split, sums and counts carried separately and divided once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ablatable.data.batches import validation_batches
from ablatable.data.collate import Batch, collate
from ablatable.data.packed import PackedPairs
from ablatable.nn.network import AnyNetwork
from ablatable.training.loss import LossSums, Smoothing, token_losses

VALID_TOKENS = 4096
"""Tokens a side in a validation batch; it changes speed and rounding, not the sums."""


def batch_losses(model: AnyNetwork, batch: Batch, smoothing: Smoothing | None) -> LossSums:
    """Loss sums of one batch; padding positions never reach the output projection."""
    hidden = model.decode(batch.target_input, model.encode(batch.source))
    real = batch.target_output != 0
    return token_losses(hidden[real], model.output_weight, batch.target_output[real], smoothing)


@dataclass(frozen=True)
class SplitSums:
    """NLL sum (nats), tokens whose most likely class is right, and tokens (EOS counted, padding not)."""

    nll: float
    correct: int
    tokens: int


@torch.no_grad()
def split_sums(
    model: AnyNetwork,
    pairs: PackedPairs,
    device: torch.device,
    rank: int = 0,
    ranks: int = 1,
    only: NDArray[np.int64] | None = None,
) -> SplitSums:
    """Sums over this rank's share of the batches of a split, in evaluation mode, fed the right prefix.

    ``only``: the pairs that count, by index; None: all. There must be one at least.
    """
    was_training = model.training
    model.eval()
    total = torch.zeros(2, dtype=torch.float64, device=device)
    tokens = 0
    places = np.arange(len(pairs)) if only is None else only
    source, target = pairs.source_lengths[places], pairs.target_lengths[places]
    budget = max(VALID_TOKENS, int(source.max()) + 1, int(target.max()) + 1)
    for batch in validation_batches(source, target, budget)[rank::ranks]:
        indices = places[batch]
        sums = batch_losses(model, collate(pairs, indices).to(device), smoothing=None)
        total += torch.stack([sums.nll, sums.correct])
        tokens += sums.tokens
    model.train(was_training)
    return SplitSums(float(total[0]), int(total[1]), tokens)
