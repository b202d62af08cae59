"""How the numbers of a run are printed outside study tables: digits by metric, and the names they go by."""

from __future__ import annotations

from typing import Any, cast

from ablatable.config.layers import said
from ablatable.report.rounding import fixed
from ablatable.report.settings import INACTIVE, UNTOLD
from ablatable.study.schema import RUN_METRICS, SCORE_METRICS, VOCABULARY_METRICS

DEFAULT_SPLIT = "valid"

FACTS = tuple(name for name in RUN_METRICS if name not in VOCABULARY_METRICS)
"""Measured facts that are fields of the record."""

SCORES = tuple(f"{split}.{metric}" for split in ("valid", "test") for metric in SCORE_METRICS)
"""Metrics that records keep of a split."""

_DIGITS = {"nll": 3, "ppl": 2, "bpc": 3, "bleu": 2, "bleu_paper": 2, "chrf": 2, "oov_source": 4, "oov_target": 4}
_SECONDS = ("wall_seconds", "device_seconds")


def digits(key: str) -> int:
    """Decimals of a metric (``valid.ppl``, ``valid.bleu.21-40``) or fact; 0 for counts."""
    name = key.split(".")[1] if "." in key else key
    return _DIGITS.get(name, 1 if name in _SECONDS else 0)


def number(key: str, value: float) -> str:
    """A measured value as text: 19.38, 1,180,000 or 1.88e+13."""
    if key == "flops":
        return f"{value:.3g}"
    if digits(key) == 0 and abs(value) >= 10_000:
        return f"{value:,.0f}"
    return fixed(value, digits(key))


UNKNOWN = "?"
"""What stands for a setting that the source of an imported run did not tell, or whose key nobody mapped."""


def setting(value: Any) -> str:
    """A setting's value as it is written in YAML; a dash where it means nothing, a question mark where nobody knows."""
    if value is UNTOLD:
        return UNKNOWN
    if value is INACTIVE:
        return "\N{EN DASH}"
    if isinstance(value, list):
        return ", ".join(setting(item) for item in cast(list[Any], value))
    return f"{value:.6g}" if isinstance(value, float) else said(value)
