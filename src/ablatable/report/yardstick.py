"""Which numbers may be compared: only those measured with the same yardstick are ranked or subtracted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ablatable.record.schema import Record

Yardstick = tuple[str, ...]

_PER_PIECE = ("nll", "ppl")


def yardstick(record: Record, key: str) -> Yardstick:
    """What a metric was measured with; facts about the run (parameters, seconds) need nothing in common.

    Perplexity is per piece of a tokenizer, so it needs the same corpus and the same pieces. A translation
    score needs the same corpus, the same number of sentences and the same signature.
    """
    split, dot, metric = key.partition(".")
    if not dot:
        return ()
    if metric in _PER_PIECE:
        return (split, record.stamp.corpus_fingerprint, record.stamp.tokenizer_fingerprint)
    found = record.metrics.get(key)
    signature = (found.signature if found is not None else None) or record.stamp.bleu_signature or ""
    evaluate: dict[str, Any] = record.config.get("evaluate", {})
    return (split, record.stamp.corpus_fingerprint, str(evaluate.get("sentences")), signature)


def common(records: Iterable[Record], key: str) -> Yardstick | None:
    """The yardstick all these records share; None when they do not, or when there are none."""
    found = {yardstick(record, key) for record in records}
    return found.pop() if len(found) == 1 else None


def why_mixed(key: str, label: str) -> str:
    """The footnote of a column whose rows were measured differently."""
    if key.partition(".")[2] in _PER_PIECE:
        return (
            f"{label}: these rows do not share corpus and tokenizer, and a value per piece says nothing "
            "across tokenizers; none is marked best, and no difference is given to a base row measured "
            "otherwise."
        )
    return (
        f"{label}: these rows were not scored on the same sentences with the same signature; none is marked "
        "best, and no difference is given to a base row scored otherwise."
    )
