"""Is the difference to the first side more than chance? Over seeds where there are some, else over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from ablatable.report.compare.model import PairedTest
from ablatable.report.compare.numbers import metric_keys, to_first
from ablatable.report.compare.side import Side
from ablatable.report.compare.text import Text

if TYPE_CHECKING:
    from ablatable.scoring.significance import Comparison

SEED_METRICS = ("nll", "ppl", "bpc", "bleu", "bleu_paper", "chrf")
"""What is tested over seeds, where the sides measured it alike."""

_SEED_TESTS = {"paired": "paired t over seeds", "welch": "Welch's t over seeds"}


def has_seeds(first: Side, other: Side) -> bool:
    """Whether the two can be tested over seeds: two runs at least on both sides."""
    return len(first.runs) >= 2 and len(other.runs) >= 2


def seed_tests(sides: Sequence[Side], split: str) -> list[PairedTest]:
    """Student's t for each side with seeds against a first one with seeds, as tables have it."""
    known = metric_keys(sides)
    lines: list[PairedTest] = []
    for key in (f"{split}.{metric}" for metric in SEED_METRICS):
        if key not in known:
            continue
        for side in sides[1:]:
            gap = to_first(sides, side, key) if has_seeds(sides[0], side) else None
            if gap is None or gap.p is None or gap.method is None:
                continue
            first, own = sides[0].values(key), side.values(key)
            n = len(first.keys() & own.keys()) if gap.method == "paired" else len(first) + len(own)
            test = _SEED_TESTS[gap.method]
            lines.append(PairedTest(side.letter, key, test, "seeds", n, gap.value, gap.low, gap.high, gap.p))
    return holm_by_family(lines)


def sentence_tests(
    sides: Sequence[Side], text: Text, split: str, seed: int, samples: tuple[int, int]
) -> list[PairedTest]:
    """Paired bootstrap and approximate randomisation of each side without seeds of its own against the first.

    Args:
        sides: what is compared.
        text: one run of each.
        split: what they translated.
        seed: of the resampling.
        samples: of the bootstrap and of the randomisation.
    """
    from ablatable.scoring.significance import bootstrap_counts, randomise_counts
    from ablatable.scoring.statistics import MEASURES

    lines: list[PairedTest] = []
    for name, counts in text.counts.items():
        measure = MEASURES[name]
        for i, side in enumerate(sides[1:], start=1):
            if has_seeds(sides[0], side):
                continue
            pair = counts[0], counts[i]
            for found in (
                bootstrap_counts(measure, *pair, samples[0], seed),
                randomise_counts(measure, *pair, samples[1], seed),
            ):
                lines.append(_line(side, f"{split}.{name}", found, len(text.references)))
    order = [(line.metric, line.test) for line in lines]
    return holm_by_family(sorted(lines, key=lambda line: order.index((line.metric, line.test))))


def _line(side: Side, key: str, found: Comparison, sentences: int) -> PairedTest:
    return PairedTest(
        letter=side.letter,
        metric=key,
        test=found.test,
        over="sentences",
        n=sentences,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p=found.p_value,
        signature=found.signature,
    )


def holm_by_family(lines: Sequence[PairedTest]) -> list[PairedTest]:
    """Correct for several comparisons with the first side: one family a metric and test, neighbours in the list."""
    made: list[PairedTest] = []
    for _, members in groupby(lines, key=lambda line: (line.metric, line.over == "seeds" or line.test)):
        family = list(members)
        corrected = holm([line.p for line in family]) if len(family) > 1 else [None]
        made += [replace(line, corrected=p) for line, p in zip(family, corrected, strict=True)]
    return made


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (1979): the smallest of m p-values times m, the next times m - 1, never falling."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted
