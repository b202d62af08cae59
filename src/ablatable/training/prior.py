"""How often each class is a label of the training text: the prior of ``train.smoothing_mass=unigram``."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ablatable.data.packed import PackedPairs
from ablatable.data.tokenizers.special import EOS

_CHUNK = 1 << 22
"""Ids counted at once: counting widens them to 8 bytes each, and a corpus may not fit in memory so."""


def label_counts(pairs: PackedPairs, classes: int) -> Tensor:
    """Occurrences ``(classes,)`` int64 among the labels: every target piece, and one end mark a sentence."""
    ids = pairs.target_side.ids
    counts = np.zeros(classes, np.int64)
    for start in range(0, len(ids), _CHUNK):
        counts += np.bincount(ids[start : start + _CHUNK], minlength=classes)
    counts[EOS] += len(pairs)
    return torch.from_numpy(counts)
