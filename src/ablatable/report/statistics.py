"""What may be said about a row from its seeds: mean, sample spread, difference to the baseline.

Runs of one seed share everything their rows' difference leaves untouched, so differences are paired by seed
wherever two or more seeds are common.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from ablatable.report.student import critical, two_sided_p

LEVEL = 0.95
"""Of every interval in a table."""


@dataclass(frozen=True)
class Sample:
    """Mean of ``n`` values; ``sd`` is the sample one (n - 1), None for a single value."""

    mean: float
    sd: float | None
    n: int


@dataclass(frozen=True)
class Difference:
    """A row's mean minus the baseline's.

    ``low`` and ``high`` bound the 95 % interval and ``p`` is two-sided; all three are None when one side has
    a single run, from which nothing follows. Paired differences average over the common seeds alone.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    method: Literal["paired", "welch"] | None = None

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.value > 0) - (self.value < 0)

    @property
    def is_noise(self) -> bool | None:
        """Whether zero lies inside the interval; None where there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= 0.0 <= self.high


def summarise(values: Collection[float]) -> Sample | None:
    """Mean and sample sd; None for no values at all."""
    if not values:
        return None
    return Sample(_mean(values), math.sqrt(_variance(values)) if len(values) > 1 else None, len(values))


def difference(row: Mapping[int, float], base: Mapping[int, float]) -> Difference | None:
    """Compare a row with the baseline, both given as seed -> value; None when either is empty.

    Two or more common seeds: paired t. Otherwise two or more runs on both sides: Welch's t. Otherwise only
    the difference of the means.
    """
    if not row or not base:
        return None
    common = sorted(row.keys() & base.keys())
    if len(common) >= 2:
        gaps = [row[seed] - base[seed] for seed in common]
        error = math.sqrt(_variance(gaps) / len(gaps))
        return _with_interval(_mean(gaps), error, len(gaps) - 1, "paired")
    gap = _mean(row.values()) - _mean(base.values())
    if len(row) < 2 or len(base) < 2:
        return Difference(gap)
    shares = [_variance(values.values()) / len(values) for values in (row, base)]
    total = sum(shares)
    parts = sum(share**2 / (len(values) - 1) for share, values in zip(shares, (row, base), strict=True))
    return _with_interval(gap, math.sqrt(total), total**2 / parts if parts else 1.0, "welch")


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Collection[float]) -> float:
    """The sample variance (n - 1) of two values or more, in two passes of exactly rounded sums."""
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _with_interval(gap: float, error: float, freedom: float, method: Literal["paired", "welch"]) -> Difference:
    if error == 0.0:
        return Difference(gap, gap, gap, 1.0 if gap == 0.0 else 0.0, method)
    reach = critical(freedom, LEVEL) * error
    return Difference(gap, gap - reach, gap + reach, two_sided_p(gap / error, freedom), method)
