"""Unsmoothed NLL of a split, sums and counts carried separately and divided once."""

from __future__ import annotations

import torch

from ablatable.data.batches import validation_batches
from ablatable.data.collate import collate
from ablatable.data.packed import PackedPairs
from ablatable.training.module import TranslationModule


@torch.no_grad()
def nll_sums(
    module: TranslationModule, pairs: PackedPairs, budget: int, device: torch.device, rank: int = 0, ranks: int = 1
) -> tuple[float, int]:
    """NLL sum (nats) and tokens (EOS counted) over this rank's share of the batches, in evaluation mode."""
    was_training = module.training
    module.eval()
    total = torch.zeros((), dtype=torch.float64, device=device)
    tokens = 0
    for indices in validation_batches(pairs.source_lengths, pairs.target_lengths, budget)[rank::ranks]:
        sums = module.losses(collate(pairs, indices).to(device), smoothing=0.0)
        total += sums.nll.double()
        tokens += sums.tokens
    module.train(was_training)
    return float(total.item()), tokens
