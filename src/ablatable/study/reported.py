"""Published values in a study file: of the column's own metric and in its unit, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ablatable.errors import InputError, nearest
from ablatable.study.schema import Column, Row, Study


@dataclass(frozen=True)
class Measure:
    """What a metric's values can be, before a column divides them."""

    said: str
    least: float
    most: float


_BLEU = Measure("BLEU goes from 0 to 100", 1, 100)
_FRACTION = Measure("a share goes from 0 to 1", 0, 1)
_PIECES = Measure("a vocabulary has from 2 to 10,000,000 pieces", 2, 1e7)
_TOKENS = Measure("a training reads from 1,000 to 1e15 tokens", 1e3, 1e15)
_SECONDS = Measure("a training takes from 1 to 1e10 seconds", 1, 1e10)

MEASURES = {
    "nll": Measure("a loss goes from 0 to 20 nats a piece", 0, 20),
    "ppl": Measure("a perplexity is at least 1", 1, 1e6),
    "bpc": Measure("a character costs from 0 to 20 bits", 0, 20),
    "bleu": _BLEU,
    "bleu_paper": _BLEU,
    "chrf": Measure("chrF goes from 0 to 100", 1, 100),
    "oov_source": _FRACTION,
    "oov_target": _FRACTION,
    "source_vocabulary": _PIECES,
    "target_vocabulary": _PIECES,
    "parameters": Measure("a model has from 10,000 to 1e12 parameters", 1e4, 1e12),
    "flops": Measure("a training takes from 1e9 to 1e27 FLOPs", 1e9, 1e27),
    "updates": Measure("a training has from 1 to 1e9 updates", 1, 1e9),
    "source_tokens": _TOKENS,
    "target_tokens": _TOKENS,
    "wall_seconds": _SECONDS,
    "device_seconds": _SECONDS,
    "peak_memory_bytes": Measure("a run holds from 1e6 to 1e14 bytes", 1e6, 1e14),
}
"""Generous: what lies outside is another metric or another unit."""

_COUNTED_IN_MILLIONS = 1e3
"""What has no smaller values is often published in millions: parameters, tokens, FLOPs."""
_PER_CENT = 100

_KEYS = {"parameters": ("params", "parameters"), "bleu_paper": ("bleu_paper", "bleu")}
"""Keys of published values by metric, where they are not the metric's own name alone."""


def check_column(study: Study, index: int) -> None:
    """Refuse a column that would print published values of another metric under its own.

    Raises:
        InputError: with file, line and the key to write.
    """
    column = study.columns[index]
    if column.reported is None or column.metric is None:
        return
    where = study.origin.where("columns", index, "reported")
    known = _KEYS.get(column.metric, (column.metric,))
    if column.reported not in known:
        raise InputError(
            f"{where}: column '{column.label}' measures {column.metric} and would print reported '{column.reported}' "
            f"beside it; write reported: {known[0]}, or another metric"
        )
    if column.bucket is not None:
        raise InputError(
            f"{where}: column '{column.label}' is one length bucket, and published values are of all sentences; "
            "leave out 'reported' there"
        )


def check_row(study: Study, index: int) -> None:
    """Refuse published values that no column shows, that cannot be in its unit, or whose source is half said.

    Raises:
        InputError: with file, line and remedy.
    """
    row = study.rows[index]
    for section, values in (("reported", row.reported), ("reported_base", row.reported_base)):
        for key, value in values.items():
            _check_value(study, (index, section, key), value)
    _check_source(study, index, row)


def _check_value(study: Study, place: tuple[int, str, str], value: float) -> None:
    where, key = study.origin.where("rows", *place), place[-1]
    columns = _shown(study)
    if key not in columns:
        hint = nearest(key, columns) or "; no column has it under 'reported'"
        raise InputError(f"{where}: no column shows reported '{key}'{hint}")
    column = columns[key]
    measure = MEASURES[column.metric or ""]
    if not measure.least <= value * column.divide_by <= measure.most:
        raise InputError(
            f"{where}: reported {key}: {value:g} cannot stand in column '{column.label}': {measure.said}"
            f"{_unit(column)}; {_remedy(value, column, measure)}"
        )


def _shown(study: Study) -> Mapping[str, Column]:
    return {column.reported: column for column in reversed(study.columns) if column.reported is not None}


def _unit(column: Column) -> str:
    return f", and the column counts in units of {column.divide_by:g}" if column.divide_by != 1 else ""


def _remedy(value: float, column: Column, measure: Measure) -> str:
    factors = [1 / column.divide_by]
    if measure.least >= _COUNTED_IN_MILLIONS:
        factors.append(1e6 / column.divide_by)
    if measure.most == _PER_CENT:
        factors.append(100.0)
    for factor in factors:
        if factor != 1 and measure.least <= value * factor * column.divide_by <= measure.most:
            return f"write {value * factor:g} if that is what was published"
    return "write the value of this metric, in this unit"


def _check_source(study: Study, index: int, row: Row) -> None:
    at = study.origin.where
    if row.reported_from is not None and not row.reported:
        raise InputError(
            f"{at('rows', index, 'reported_from')}: row '{row.name}' has no 'reported' values to come from it"
        )
    if row.reported_base and row.reported_from is None:
        raise InputError(
            f"{at('rows', index, 'reported_base')}: say under 'reported_from' whose baseline this is; where it is the "
            f"study's source, the baseline row's 'reported' says it"
        )
    lone = sorted(row.reported_base.keys() - row.reported.keys())
    if lone:
        raise InputError(
            f"{at('rows', index, 'reported_base', lone[0])}: row '{row.name}' has no reported {lone[0]} to compare "
            "with it; add it under 'reported' or leave it out here"
        )
