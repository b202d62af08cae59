"""Development data over several ranks: shared out, never padded with sentences that are there already."""

import numpy as np
import pytest
import torch

from ablatable.config.model import Model
from ablatable.data.packed import PackedPairs, Side, SplitStats
from ablatable.nn.build import build_model
from ablatable.training.evaluate import split_sums


def side(rng: np.random.Generator, sentences: int) -> Side:
    lengths = rng.integers(1, 9, sentences)
    offsets = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
    return Side(rng.integers(4, 20, int(lengths.sum())).astype(np.uint16), offsets)


@pytest.mark.parametrize("sentences", [3, 2000])
@pytest.mark.parametrize("ranks", [2, 3])
def test_trn_06_ranks_share_the_sentences_without_counting_any_twice(
    sentences: int, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sums over all ranks are those of one process, also where a rank gets nothing."""
    monkeypatch.setattr("ablatable.training.evaluate.VALID_TOKENS", 512)
    rng = np.random.default_rng(3)
    pairs = PackedPairs(side(rng, sentences), side(rng, sentences), SplitStats())
    model = build_model(Model(layers=1, d_model=8, d_ff=16, heads=2), 20, 20, 1)
    whole = split_sums(model, pairs, torch.device("cpu"))
    shares = [split_sums(model, pairs, torch.device("cpu"), rank, ranks) for rank in range(ranks)]
    assert sum(share.tokens for share in shares) == whole.tokens == int((pairs.target_lengths + 1).sum())
    assert sum(share.correct for share in shares) == whole.correct
    assert sum(share.nll for share in shares) == pytest.approx(whole.nll, rel=1e-9)
