"""Where the cost of self-attention overtakes the recurrent layer's, as n grows at one d."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from ablatable.analysis.complexity.settings import Point
from ablatable.analysis.intervals import LEVEL, Interval

RESAMPLES = 1000


@dataclass(frozen=True)
class Crossing:
    """A width, and the length at which the costs are equal.

    Args:
        layer: the one that is dearer from there on.
        d: width.
        counted: n at which the operations are equal.
        timed: n at which the times are equal, with its interval; None where they are not within what was measured.
        bounds: the least and the largest n that was measured.
    """

    layer: str
    d: int
    counted: float | None
    timed: Interval | None
    bounds: tuple[int, int]


def equal(lengths: Sequence[int], cost: Callable[[int], float], other: Callable[[int], float]) -> float | None:
    """The n where ``cost`` has caught up with ``other`` for good, by straight lines between the points in log-log.

    None where it is dearer or cheaper at every length from some point below the first, or to the last.
    """
    ratios = [log(cost(n) / other(n)) for n in lengths]
    for place in range(len(lengths) - 1, 0, -1):
        below, above = ratios[place - 1], ratios[place]
        if above >= 0 > below:
            share = -below / (above - below)
            return exp(log(lengths[place - 1]) + share * log(lengths[place] / lengths[place - 1]))
        if above < 0:
            return None
    return None


def crossing(
    layer: str,
    d: int,
    lengths: Sequence[int],
    operations: Callable[[Point], int],
    seconds: Callable[[Point], list[float]],
) -> Crossing:
    """Where ``layer`` overtakes the recurrent one; the interval is a bootstrap over rounds, in which all points are
    drawn alike, since a round's disturbance is common to them.

    Args:
        layer: name of a self-attention.
        d: width.
        lengths: n, growing, at which both were measured.
        operations: of each point.
        seconds: of each point, by round.
    """
    every = range(lengths[0], lengths[-1] + 1)  # a closed form is there for each, not for those alone that were timed
    counted = equal(every, lambda n: operations((layer, n, d)), lambda n: operations(("recurrent", n, d)))
    own, others = ({n: seconds((name, n, d)) for n in lengths} for name in (layer, "recurrent"))
    rounds = min(len(times) for times in (*own.values(), *others.values()))
    draw = random.Random(0)

    def at(chosen: Sequence[int]) -> float | None:
        return equal(
            lengths, lambda n: median(own[n][i] for i in chosen), lambda n: median(others[n][i] for i in chosen)
        )

    middle = at(range(rounds))
    drawn = [at(draw.choices(range(rounds), k=rounds)) for _ in range(RESAMPLES)]
    sure = sorted(n for n in drawn if n is not None)
    timed = None
    if middle is not None and len(sure) >= LEVEL * RESAMPLES:
        tail = (1 - LEVEL) / 2
        low, high = (sure[min(len(sure) - 1, int(share * len(sure)))] for share in (tail, 1 - tail))
        timed = Interval(middle, min(low, middle), max(high, middle))
    return Crossing(layer, d, counted, timed, (lengths[0], lengths[-1]))
