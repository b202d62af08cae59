"""Random numbers without a generator: each is a pure function of its keys, so nothing depends on the order of asking.

A generator per (seed, epoch, sentence) would do the same and cost more than the noise itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)


def bits(*keys: ArrayLike) -> NDArray[np.uint64]:
    """64 random bits for every combination of the keys, which are whole numbers from 0, broadcast together.

    The state of splitmix64 (Steele et al., 2014) takes up one key after the other and is mixed after each.
    """
    state = np.zeros(1, np.uint64)
    for key in keys:
        state = _mixed((state ^ np.atleast_1d(np.asarray(key, np.uint64))) + _STEP)
    return state


def uniform(*keys: ArrayLike) -> NDArray[np.float64]:
    """Numbers from 0, below 1, for every combination of the keys as in ``bits``."""
    return (bits(*keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
