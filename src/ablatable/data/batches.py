"""Which sentences are trained on together: batches by token budget, a pure function of (seed, epoch).

The budget counts padding (section 5.1, "sentence pairs were batched together by approximate sequence
length"): on each side, the longest sentence of a batch times its number of sentences stays within it. A
sentence costs its pieces and one eos on the source side, and as much on the target side, where bos or eos
comes with them.

Pairs are put in strips by their longer side, which is the side that fills the budget. Inside a strip they are
walked from "source much longer" to "target much longer", in the next strip back again, so that neighbours
agree on both lengths and a batch may run on into the next strip. The members of a batch change from epoch
to epoch, not only the order of the batches: the epoch's shuffle orders pairs of equal lengths, and the walk
starts at either end and with either side.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ablatable.errors import InputError

Indices = NDArray[np.int64]

_STRIP_WIDTH = 0.05
"""Batches in a strip, as a multiple of the square root of all batches: narrow strips cost less than the
theory's square cells, because a strip one length wide has no padding on its longer side."""

_FULL = float("inf")
_CLOSING_COSTS = (0.2, 0.1, 0.07, 0.05, 0.045, 0.04, 0.035, 0.03)
_MOST_PADDING = 0.079
_MOST_BATCHES = 2.5
"""A batch is closed early where the next sentences would pad it too much: as if a batch cost so many
budgets of padding, which at the first of ``_CLOSING_COSTS`` makes 2 % more batches than filling each to the
brim. A small corpus in large batches has too few neighbours of one length; where padding stays above
``_MOST_PADDING``, the next costs are tried in turn. If all miss the mark, or need more than
``_MOST_BATCHES`` times as many batches, the first stands: a budget should mean what it says."""


def batch_order(
    source_lengths: ArrayLike, target_lengths: ArrayLike, budget: int, seed: int, epoch: int
) -> list[Indices]:
    """Return the batches of one epoch in training order; every sentence is in exactly one.

    Args:
        source_lengths: pieces of each source sentence without bos and eos, shape (pairs,).
        target_lengths: the same of each target sentence, shape (pairs,).
        budget: tokens a side, padding counted, that no batch exceeds.
        seed: of the experiment, >= 0.
        epoch: from 0.

    Returns:
        Arrays of pair indices. They depend on the arguments alone, not on the model, the number of devices or
        any global random state.

    Raises:
        InputError: a sentence is longer than the budget.
    """
    source, target = _costs(source_lengths), _costs(target_lengths)
    check_budget(max(int(source.max(initial=0)), int(target.max(initial=0))), budget)
    if not len(source):
        return []
    random = np.random.default_rng([seed, epoch])
    shuffled = random.permutation(len(source))
    backwards, leaning = random.integers(2, size=2).tolist()
    order = _walk(source, target, budget, shuffled, backwards=bool(backwards), leaning=leaning)
    batches = _pack(order, source[order], target[order], budget)
    return [batches[index] for index in random.permutation(len(batches))]


def check_budget(longest: int, budget: int) -> None:
    """Refuse a budget that the longest sentence, its end mark counted, does not fit in.

    Raises:
        InputError: it does not.
    """
    if longest > budget:
        raise InputError(
            f"train.batch_tokens={budget} is less than the longest sentence with its end mark, "
            f"{longest} tokens; raise train.batch_tokens or lower data.max_length"
        )


def validation_batches(source_lengths: ArrayLike, target_lengths: ArrayLike, budget: int) -> list[Indices]:
    """Return batches of all sentences in a fixed order, short ones first.

    Nothing is left out: a sentence longer than the budget makes a batch of its own. Arguments as in
    ``batch_order``.
    """
    source, target = _costs(source_lengths), _costs(target_lengths)
    order = _walk(source, target, budget, np.arange(len(source)))
    bounds = _cut(source[order], target[order], budget, _FULL)
    return [order[start:end] for start, end in itertools.pairwise(bounds)]


def padding(batches: list[Indices], source_lengths: ArrayLike, target_lengths: ArrayLike) -> float:
    """Return the share of positions, over both sides of all batches, that hold padding."""
    source, target = _costs(source_lengths), _costs(target_lengths)
    padded = sum(len(batch) * int(source[batch].max() + target[batch].max()) for batch in batches if len(batch))
    real = sum(int(source[batch].sum() + target[batch].sum()) for batch in batches)
    return 1 - real / padded if padded else 0.0


def _costs(lengths: ArrayLike) -> NDArray[np.int64]:
    return np.asarray(lengths, np.int64) + 1


def _walk(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    budget: int,
    shuffled: Indices,
    *,
    backwards: bool = False,
    leaning: int = 0,
) -> Indices:
    """Return ``shuffled`` sorted by strip and, up and down in turn, by which side is longer by how much."""
    if not len(shuffled):
        return shuffled
    longer = np.maximum(source, target)
    strip = _strips(longer, budget)[longer]
    lean = source - target
    lean = np.where(strip % 2 == leaning, lean, -lean)
    if backwards:
        strip = -strip
    span = 2 * int(longer.max()) + 1
    return shuffled[np.argsort((strip * span + lean)[shuffled], kind="stable")]


def _strips(longer: NDArray[np.int64], budget: int) -> NDArray[np.int64]:
    """Number the strips by length: consecutive whole lengths that together fill about the wanted batches."""
    tokens = np.bincount(longer) * np.arange(int(longer.max()) + 1)
    wanted = _STRIP_WIDTH * np.sqrt(tokens.sum() * budget)
    strips = np.zeros(len(tokens), np.int64)
    strip, filled = 0, 0.0
    for length, weight in enumerate(tokens.tolist()):
        if filled and filled + weight / 2 > wanted:
            strip, filled = strip + 1, 0.0
        filled += weight
        strips[length] = strip
    return strips


def _pack(order: Indices, source: NDArray[np.int64], target: NDArray[np.int64], budget: int) -> list[Indices]:
    """Cut the walk into the fullest batches whose padding is acceptable. Lengths are in the walk's order."""
    attempts = (_cut(source, target, budget, cost) for cost in _CLOSING_COSTS)
    fullest = next(attempts)
    affordable = itertools.takewhile(lambda bounds: len(bounds) <= _MOST_BATCHES * len(fullest), attempts)
    tried = itertools.chain([fullest], affordable)
    bounds = next((bounds for bounds in tried if _padding_of(bounds, source, target) <= _MOST_PADDING), fullest)
    return [order[start:end] for start, end in itertools.pairwise(bounds)]


def _padding_of(bounds: list[int], source: NDArray[np.int64], target: NDArray[np.int64]) -> float:
    starts = bounds[:-1]
    padded = np.diff(bounds) @ (np.maximum.reduceat(source, starts) + np.maximum.reduceat(target, starts))
    return 1 - float(source.sum() + target.sum()) / float(padded)


def _cut(source: NDArray[np.int64], target: NDArray[np.int64], budget: int, closing_cost: float) -> list[int]:
    """Return the bounds of consecutive batches within the budget, one more than there are batches.

    Each batch is as long as fits, or, with a finite cost, as long as keeps its padded size and
    ``closing_cost`` budgets smallest per token. A sentence that fits nowhere stands alone.
    """
    both = source + target
    bounds, start = [0], 0
    while start < len(source):
        window = slice(start, start + max(1, budget // max(int(source[start]), int(target[start]))))
        widest_source = np.maximum.accumulate(source[window])
        widest_target = np.maximum.accumulate(target[window])
        count = np.arange(1, len(widest_source) + 1)
        fits = count * np.maximum(widest_source, widest_target) <= budget
        size = len(fits) if fits[-1] else max(1, int(fits.argmin()))
        if closing_cost < _FULL:
            padded = (count * (widest_source + widest_target))[:size]
            size = 1 + int(((padded + closing_cost * budget) / both[window][:size].cumsum()).argmin())
        start += size
        bounds.append(start)
    return bounds
