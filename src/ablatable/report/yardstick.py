"""Which numbers may be compared: only those measured with the same yardstick are ranked or subtracted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ablatable.record.schema import Record

Yardstick = tuple[str, ...]

_PER_PIECE = ("nll", "ppl")
_PER_CHARACTER = ("bpc",)
_UNKNOWN = ("oov_source", "oov_target")

MOST_HIDDEN = 0.001
"""Share of unknown target pieces up to which bits per character are compared across tokenizers.

An unknown piece costs what guessing "unknown" costs, however long the word it stands for. Spelling it out would take
some twenty to forty bits, so one piece in a thousand, of four or five characters each, hides less than 0.01 bits a
character.
"""


def yardstick(record: Record, key: str) -> Yardstick:
    """What a metric was measured with; facts about the run (parameters, seconds) need nothing in common.

    Perplexity is per piece of a tokenizer, so it needs the same corpus, the same pieces and, for some saw the future,
    the same signature. Bits per character do without the same pieces, unless these hide part of the text. A translation
    score needs the same corpus, the same number of sentences and the same signature. A length bucket is counted in
    pieces, so it needs the same pieces whatever is measured in it.
    """
    if "." not in key:
        return ()
    split, metric, *bucket = key.split(".")
    if bucket:
        pieces = record.stamp.tokenizer_fingerprint
        return (*yardstick(record, f"{split}.{metric}"), _signature(record, key), *bucket, pieces)
    own = _signature(record, key)
    if metric in _PER_PIECE:
        return (split, record.stamp.corpus_fingerprint, record.stamp.tokenizer_fingerprint, own)
    if metric in _PER_CHARACTER:
        hidden_by = record.stamp.tokenizer_fingerprint if hides_text(record, key) else ""
        return (split, record.stamp.corpus_fingerprint, _normalisation(record), hidden_by, own)
    if metric in _UNKNOWN:
        return (split, record.stamp.corpus_fingerprint)
    signature = own or record.stamp.bleu_signature or ""
    evaluate: dict[str, Any] = record.config.get("evaluate", {})
    return (split, record.stamp.corpus_fingerprint, str(evaluate.get("sentences")), signature)


def _signature(record: Record, key: str) -> str:
    found = record.metrics.get(key)
    return (found.signature if found is not None else None) or ""


def hides_text(record: Record, key: str) -> bool:
    """Whether a value per character is of a text with holes: more unknown target pieces than ``MOST_HIDDEN``."""
    split, metric, *_ = (*key.split("."), "")
    unknown = record.metric(f"{split}.oov_target")
    return metric in _PER_CHARACTER and unknown is not None and unknown > MOST_HIDDEN


def _normalisation(record: Record) -> str:
    tokenizer: dict[str, Any] = record.config.get("tokenizer", {})
    return str(tokenizer.get("normalisation"))


def common(records: Iterable[Record], key: str) -> Yardstick | None:
    """The yardstick all these records share; None when they do not, or when there are none."""
    found = {yardstick(record, key) for record in records}
    return found.pop() if len(found) == 1 else None


def why_mixed(key: str, label: str) -> str:
    """The footnote of a column whose rows were measured differently."""
    metric = key.split(".")[1]
    if metric in _PER_PIECE:
        return (
            f"{label}: these rows do not share corpus and tokenizer, or not all hid the future from the decoder, and a "
            "value per piece says nothing across tokenizers; none is marked best, and no difference is given to a "
            "base row measured otherwise."
        )
    if metric in _PER_CHARACTER:
        return (
            f"{label}: these rows do not share corpus and normalisation, or not all hid the future from the decoder; "
            "none is marked best, and no difference is given to a base row measured otherwise."
        )
    return (
        f"{label}: these rows were not scored on the same sentences with the same signature; none is marked "
        "best, and no difference is given to a base row scored otherwise."
    )
