"""From pair indices to the padded tensors of one batch.

bos is only ever an input and eos only ever a label, so ``target_input`` and ``target_output`` are padded at
the same places: one mask, ``!= 0``, serves both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ablatable.data.packed import PackedPairs, Side
from ablatable.data.tokenizers.special import BOS, EOS, PAD

Noise = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Takes source sentences with end marks and padding, (rows, places), and which pairs they are; returns as many."""


@dataclass(frozen=True)
class Batch:
    """Padded sentences, int64; B sentences, S and T the longest with its end mark. Padding is 0.

    ``source`` (B, S): pieces, eos. ``target_input`` (B, T): bos, pieces. ``target_output`` (B, T): pieces,
    eos. ``source_tokens`` and ``target_tokens`` count what is not padding: eos counts on both sides, bos
    never.
    """

    source: Tensor
    target_input: Tensor
    target_output: Tensor
    source_tokens: int
    target_tokens: int

    def __len__(self) -> int:
        return self.source.shape[0]

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch with its tensors on ``device``."""
        return Batch(
            self.source.to(device, non_blocking=True),
            self.target_input.to(device, non_blocking=True),
            self.target_output.to(device, non_blocking=True),
            self.source_tokens,
            self.target_tokens,
        )


def collate(pairs: PackedPairs, indices: ArrayLike, noise: Noise | None = None) -> Batch:
    """Return the batch of the given pairs, in the order given, with ``noise`` on the source side if any.

    Without indices the tensors have no rows and one column.
    """
    rows = np.asarray(indices, np.int64)
    source = _with_eos(pairs.source_side, rows)
    if noise is not None:
        source = noise(source, rows)
    target = _with_eos(pairs.target_side, rows)
    # What eos replaces on the way in is padding: without its last token each row shifts right behind a bos.
    pieces = np.where(target == EOS, PAD, target)[:, :-1]
    target_input = np.concatenate([np.full((len(rows), 1), BOS, np.int64), pieces], axis=1)
    return Batch(
        torch.from_numpy(source),
        torch.from_numpy(target_input),
        torch.from_numpy(target),
        int((source != PAD).sum()),
        int((target != PAD).sum()),
    )


def _with_eos(side: Side, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Gather sentences into a (rows, longest + 1) block: pieces, eos, padding."""
    starts, lengths = side.offsets[rows], side.lengths[rows]
    column = np.arange(int(lengths.max(initial=0)) + 1)
    block = np.full((len(rows), len(column)), PAD, np.int64)
    inside = column < lengths[:, None]
    block[inside] = side.ids[(starts[:, None] + column)[inside]]
    block[np.arange(len(rows)), lengths] = EOS
    return block
