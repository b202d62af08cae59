"""Metrics and facts side by side, with differences to the first where both were measured alike; learning curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ablatable.report.compare.model import Curve, MetricLine, Point
from ablatable.report.compare.side import Side
from ablatable.report.measures import FACTS, SCORES
from ablatable.report.statistics import Difference, difference, summarise
from ablatable.report.yardstick import common, hides_text, why_mixed
from ablatable.study.schema import VOCABULARY_METRICS

_UNITS = {
    "flops": "FLOPs",
    "source_tokens": "tokens",
    "target_tokens": "tokens",
    "wall_seconds": "s",
    "device_seconds": "s",
    "peak_memory_bytes": "bytes",
}


def metric_lines(sides: Sequence[Side]) -> list[MetricLine]:
    """Every metric that any side has, then the facts about the runs."""
    return [_line(sides, key) for key in (*metric_keys(sides), *FACTS)]


def metric_keys(sides: Sequence[Side]) -> list[str]:
    """The metrics there are, those that every table knows first."""
    there = sorted({name for side in sides for record in side.records for name in record.metrics})
    known = [name for name in (*SCORES, *VOCABULARY_METRICS) if name in there]
    return [*known, *(name for name in there if name not in known)]


def _line(sides: Sequence[Side], key: str) -> MetricLine:
    values = [side.values(key) for side in sides]
    units = [record.metrics[key].unit for side in sides for record in side.records if key in record.metrics]
    return MetricLine(
        key=key,
        unit=units[0] if units else _UNITS.get(key, ""),
        samples=tuple(summarise(own.values()) for own in values),
        differences=(None, *(to_first(sides, side, key) for side in sides[1:])),
    )


def to_first(sides: Sequence[Side], side: Side, key: str) -> Difference | None:
    """A side's difference to the first; None where a value is missing or the two were measured differently."""
    return difference(side.values(key), sides[0].values(key)) if comparable(sides[0], side, key) else None


def comparable(first: Side, second: Side, key: str) -> bool:
    """Whether both sides measured it with one yardstick."""
    if first.imported or second.imported:  # nobody knows what another tool measured with
        return False
    own = common(second.ours, key)
    return own is not None and own == common(first.ours, key)


def comparability(sides: Sequence[Side]) -> list[str]:
    """What the numbers must not be compared in: other text, other pieces, other signatures."""
    foreign = _foreign(sides)
    sides = [side for side in sides if side.ours]
    other_text, other_pieces = _other_text(sides), _other_pieces(sides)
    if other_text is not None:
        return [*foreign, other_text]
    notes = foreign if other_pieces is None else [*foreign, other_pieces]
    for key in metric_keys(sides):
        having = [record for side in sides for record in side.ours if key in record.metrics]
        explained = other_pieces is not None and is_per_piece(key)
        if common(having, key) is None and not explained:
            notes.append(why_mixed(key, key).partition(";")[0].replace("these rows", "these runs") + ".")
            if any(hides_text(record, key) for record in having):
                notes.append(f"{key}: unknown pieces hide part of the text, and what they hide costs nothing.")
    return notes


def _foreign(sides: Sequence[Side]) -> list[str]:
    notes: list[str] = []
    for side in sides:
        if side.imported:
            sources = " and ".join(dict.fromkeys(record.origin.said for record in side.imported))
            notes.append(
                f"{side.letter} was imported from {sources}: its settings, text and protocol are not verified, so no "
                "difference to it and no test is given."
            )
    return notes


def _other_text(sides: Sequence[Side]) -> str | None:
    found = {(record.stamp.corpus, record.stamp.corpus_fingerprint) for side in sides for record in side.ours}
    if len(found) <= 1:
        return None
    named = " and ".join(f"{corpus} ({fingerprint})" for corpus, fingerprint in sorted(found))
    return f"The runs do not share their text: {named}. Nothing that was measured on it compares."


def _other_pieces(sides: Sequence[Side]) -> str | None:
    records = [record for side in sides for record in side.ours]
    if len({record.stamp.tokenizer_fingerprint for record in records}) <= 1:
        return None
    if len({record.stamp.corpus_fingerprint for record in records}) > 1:
        return None
    return (
        "The runs do not share their pieces (tokenizer). Values per piece (NLL, perplexity, the learning curves) do "
        "not compare; bits per character and BLEU do."
    )


def is_per_piece(key: str) -> bool:
    """Whether a metric depends on how text is cut: per piece, or over a length bucket, which is counted in pieces."""
    _, *metric = key.split(".")
    return len(metric) > 1 or metric[:1] in (["nll"], ["ppl"])


def curves(sides: Sequence[Side]) -> list[Curve]:
    """The learning curves; with several seeds the mean at the updates that all of them have."""
    return [Curve(side.letter, side.name, len(side.runs), tuple(_points(side))) for side in sides]


def _points(side: Side) -> list[Point]:
    by_update = [{p.update: p for p in record.curve if _finite(p.valid_nll)} for record in side.records]
    shared = sorted(set(by_update[0]).intersection(*by_update[1:])) if by_update else []
    points: list[Point] = []
    for update in shared:
        own = [curve[update] for curve in by_update]
        losses = [point.valid_nll for point in own if point.valid_nll is not None]
        tokens = math.fsum(point.target_tokens for point in own) / len(own)
        points.append(Point(update, tokens, math.fsum(losses) / len(losses), min(losses), max(losses)))
    return points


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
