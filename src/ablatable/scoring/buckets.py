"""Sentences by length: which of a split belong to each bucket of ``evaluate.length_buckets``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ablatable.config.decoding import Evaluation

Indices = NDArray[np.int64]


def members(evaluation: Evaluation, source_lengths: ArrayLike, target_lengths: ArrayLike) -> dict[str, Indices]:
    """The sentences of each bucket in file order, by the bucket's name; an empty bucket is there, without any.

    A sentence is as long as the longer of its sides, in pieces without the end mark: what ``data.max_length`` counts
    in training. References and hypotheses have no part in it but for the reference's length.
    """
    longer = np.maximum(np.asarray(source_lengths, np.int64), np.asarray(target_lengths, np.int64))
    places = np.searchsorted(np.asarray(evaluation.length_buckets, np.int64), longer, side="left")
    return {name: np.flatnonzero(places == place) for place, name in enumerate(evaluation.buckets)}


def chosen(lines: Sequence[str], indices: Indices) -> list[str]:
    """The lines at these places; places behind the last line are left out (``evaluate.sentences``)."""
    places: list[int] = indices.tolist()
    return [lines[place] for place in places if place < len(lines)]
