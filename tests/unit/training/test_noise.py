"""The seeds of dropout's noise."""

import torch

from ablatable.training.module import noise_seed, seed_noise


def test_seeding_is_torchs_own_without_its_cost() -> None:
    """The numbers of earlier records stay: the short way gives what ``torch.manual_seed`` gives."""
    seed = noise_seed(1, 2, 0, 0)
    torch.manual_seed(seed)
    expected = torch.rand(8)
    torch.rand(3)
    seed_noise(torch.device("cpu"), seed)
    assert torch.rand(8).equal(expected)


def test_every_pass_has_its_own_noise_and_seeds_share_none() -> None:
    seeds = {noise_seed(s, u, p, r) for s in (1, 2) for u in (1, 2) for p in (0, 1) for r in (0, 1)}
    assert len(seeds) == 16
