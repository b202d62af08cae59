"""Unsmoothed NLL of a split, sums and counts carried separately and divided once."""

from __future__ import annotations

import torch

from ablatable.data.batches import validation_batches
from ablatable.data.collate import Batch, collate
from ablatable.data.packed import PackedPairs
from ablatable.nn.network import AnyNetwork
from ablatable.training.loss import LossSums, token_losses

VALID_TOKENS = 4096
"""Tokens a side in a validation batch; it changes speed and rounding, not the sums."""


def batch_losses(model: AnyNetwork, batch: Batch, smoothing: float) -> LossSums:
    """Loss sums of one batch; padding positions never reach the output projection."""
    hidden = model.decode(batch.target_input, model.encode(batch.source))
    real = batch.target_output != 0
    return token_losses(hidden[real], model.output_weight, batch.target_output[real], smoothing)


@torch.no_grad()
def nll_sums(
    model: AnyNetwork, pairs: PackedPairs, device: torch.device, rank: int = 0, ranks: int = 1
) -> tuple[float, int]:
    """NLL sum (nats) and tokens (EOS counted) over this rank's share of the batches, in evaluation mode."""
    was_training = model.training
    model.eval()
    total = torch.zeros((), dtype=torch.float64, device=device)
    tokens = 0
    budget = max(VALID_TOKENS, int(pairs.source_lengths.max()) + 1, int(pairs.target_lengths.max()) + 1)
    for indices in validation_batches(pairs.source_lengths, pairs.target_lengths, budget)[rank::ranks]:
        sums = batch_losses(model, collate(pairs, indices).to(device), smoothing=0.0)
        total += sums.nll.double()
        tokens += sums.tokens
    model.train(was_training)
    return float(total.item()), tokens
