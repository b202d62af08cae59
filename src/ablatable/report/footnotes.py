"""What a reader must know to trust or repeat a table, from its statistics to its provenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ablatable.config.dump import is_active
from ablatable.config.load import load_experiment
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaves, value_at
from ablatable.record.schema import Record
from ablatable.report import rounding
from ablatable.report.agreement import PAPER_BLEU_SPREAD
from ablatable.report.cells import RowRecords
from ablatable.report.incomparable import incomparable
from ablatable.report.layout import DELTA, PLUS_MINUS
from ablatable.report.provenance import provenance
from ablatable.report.training_note import checkpoint_note, training_note
from ablatable.scoring.perplexity import FUTURE_VISIBLE
from ablatable.study.schema import VOCABULARY_METRICS, Study

_TRANSLATION = ("bleu", "bleu_paper", "chrf")
_LIKELIHOOD = ("nll", "ppl", "bpc")
_UNKNOWN = ("oov_source", "oov_target")
_PIECES = {"word": "word", "character": "character", "byte": "byte"}
"""What perplexity is per, where it is not a sub-word piece."""


def footnotes(study: Study, scale: str, rows: Sequence[RowRecords], tuning: Sequence[str] = ()) -> tuple[str, ...]:
    """Every footnote, in the order: reading, statistics, tuning, conventions, scale and data, provenance."""
    base = next(row for row in rows if row.row.name == study.baseline_row.name)
    experiment = base.runs.experiments[0]
    done = [record for row in rows for record in row.completed.values()]
    return (
        *([study.reading] if study.reading else []),
        *_statistics(study, rows),
        *tuning,
        *_comparison(study),
        *incomparable(study, rows),
        *_leaks(study, rows),
        *_measures(study, experiment, done),
        training_note(experiment),
        *_scale(study, scale, experiment),
        *_data(experiment, base, done),
        *provenance(done),
    )


def _statistics(study: Study, rows: Sequence[RowRecords]) -> list[str]:
    base = study.baseline_row.title
    planned = max(len(row.records) for row in rows)
    notes = [
        f"n: completed runs of {planned} planned a row. Values are the mean over them {PLUS_MINUS} the "
        f"sample standard deviation (n {rounding.MINUS} 1); a single run shows no {PLUS_MINUS}, and no claim "
        "rests on it. "
        f"Blank settings equal those of {base}. {rounding.RULE}"
    ]
    if any(column.better is not None for column in study.columns):
        notes.append(
            f"Bold: best of its column, ties included. {DELTA}: difference to {base}; brackets hold its 95 % "
            "interval (paired t over the seeds both rows have, else Welch's t), given from two runs a side "
            "on and not corrected for the number of rows."
        )
    return notes


def _comparison(study: Study) -> list[str]:
    notes: list[str] = []
    if any(column.reported is not None and column.better is not None for column in study.columns):
        notes.append(
            f"Sign: whether our difference to {study.baseline_row.title} points where the paper's does "
            "(same, opposite). ~: no direction, because our interval contains 0 or the paper's own gap is at "
            f"most {PAPER_BLEU_SPREAD} BLEU, the spread between runs of one model (other measures: one unit "
            "of the last printed digit). In brackets: single runs, so whether ours is noise cannot be said."
        )
    if any(column.reported is not None for column in study.columns):
        notes.append(
            "The paper's values come from its own corpus, vocabulary, size and BLEU protocol (tokenised, "
            "compounds split): compare directions, not levels."
        )
    return notes


def _leaks(study: Study, rows: Sequence[RowRecords]) -> list[str]:
    keys = {study.metric_key(column) for column in study.columns if column.metric in _LIKELIHOOD}
    leaking = [row.row.title for row in rows if any(_saw_the_future(r, keys) for r in row.completed.values())]
    if not leaking:
        return []
    return [
        f"{', '.join(leaking)}: likelihood (NLL, perplexity, bits per character) is {FUTURE_VISIBLE}: the answer leaks "
        "and the number says nothing of translation."
    ]


def _saw_the_future(record: Record, keys: Iterable[str]) -> bool:
    return any(key in record.metrics and record.metrics[key].signature == FUTURE_VISIBLE for key in keys)


def _measures(study: Study, experiment: Experiment, done: Sequence[Record]) -> list[str]:
    shown = {column.metric for column in study.columns}
    notes: list[str] = []
    if shown & {"ppl", "nll"}:
        what = "Perplexity: exp of the negative log-likelihood" if "ppl" in shown else "NLL: nats"
        piece = _PIECES.get(experiment.tokenizer.kind, "sub-word piece")
        notes.append(f"{what} per {piece}, end mark counted, unsmoothed; one vocabulary only.")
    if "bpc" in shown:
        notes.append(
            "Bits per character: unsmoothed negative log-likelihood of the split over the characters of its untouched "
            "references, line ends counted."
        )
    if not shown.isdisjoint(_UNKNOWN):
        notes.append("Unknown pieces: their share in the split, end marks not counted.")
    notes += _buckets(study, done)
    if shown.isdisjoint(_TRANSLATION):
        return notes
    signatures = sorted({text for record in done for text in _signatures(study, record)})
    measured = "; ".join(signatures) if signatures else "no run scored yet"
    notes.append(
        f"Translation scores ({study.split} split{_first_sentences(experiment)}, detokenised output, "
        f"untouched references): {measured}. Search: {_search(experiment)}; {checkpoint_note(experiment)}."
    )
    return notes


def _buckets(study: Study, done: Sequence[Record]) -> list[str]:
    """What a length is, and how many sentences are behind each bucket's numbers."""
    named = list(dict.fromkeys(column.bucket for column in study.columns if column.bucket is not None))
    if not named:
        return []
    note = "Length buckets: pieces of the longer side, end mark left out"
    counts = [done[0].metric(f"{study.split}.sentences.{bucket}") for bucket in named] if done else []
    said = [f"{bucket} {count:,.0f}" for bucket, count in zip(named, counts, strict=False) if count is not None]
    return [f"{note}; translated sentences of the {study.split} split: {', '.join(said)}." if said else f"{note}."]


def _signatures(study: Study, record: Record) -> Iterable[str]:
    for column in study.columns:
        metric = record.metrics.get(study.metric_key(column)) if column.metric in _TRANSLATION else None
        if metric is not None and metric.signature is not None:
            yield f"{column.label} {metric.signature}"
        elif metric is not None and column.metric == "bleu" and record.stamp.bleu_signature is not None:
            yield f"{column.label} {record.stamp.bleu_signature}"


def _first_sentences(experiment: Experiment) -> str:
    count = experiment.evaluate.sentences
    return "" if count is None else f", first {count:,} sentences"


def _search(experiment: Experiment) -> str:
    decode = experiment.decode
    cap = f"at most {decode.extra_tokens} pieces longer than the source"
    if decode.beam == 1:
        return f"greedy, {cap}"
    counts = "counts" if decode.length_counts_eos else "does not count"
    return (
        f"beam {decode.beam}, length penalty ((5 + |Y|) / 6)^{decode.length_penalty} where |Y| {counts} "
        f"the end mark, {cap}"
    )


def _scale(study: Study, scale: str, experiment: Experiment) -> list[str]:
    original = load_experiment(study.baseline)
    tuned = () if study.tuning is None else study.tuning.axes
    changed = [
        f"{path}={rounding.setting(value_at(experiment, path))}"
        for path, leaf in leaves().items()
        if leaf.semantic
        and path != "seed"
        and path not in tuned
        and is_active(experiment, path)
        and value_at(experiment, path) != value_at(original, path)
    ]
    if not changed:
        return [f"Scale {scale}: nothing is changed from experiments/{study.baseline}."]
    note = f"Scale {scale} changes experiments/{study.baseline} to: {', '.join(changed)}."
    rows = " Row names state the settings at full size; the setting columns state what ran."
    return [note + rows if any(row.label is None and row.changes for row in study.rows) else note]


def _data(experiment: Experiment, base: RowRecords, done: Sequence[Record]) -> list[str]:
    text = _fingerprints({record.stamp.corpus_fingerprint for record in done})
    pieces = _fingerprints({record.stamp.tokenizer_fingerprint for record in done})
    pairs = experiment.data.train_pairs
    size = "all training pairs" if pairs is None else f"the first {pairs:,} training pairs"
    tokenizer = experiment.tokenizer
    return [
        f"Data of the base row: corpus {experiment.data.corpus}{text}, {size}; {tokenizer.sharing} "
        f"{tokenizer.kind} vocabulary of {_vocabulary(experiment, base)}{pieces}."
    ]


def _vocabulary(experiment: Experiment, base: RowRecords) -> str:
    """The size there is, where a run has recorded it: text may have fewer words than were asked for."""
    sizes = [
        size
        for record in list(base.completed.values())[:1]
        for name in VOCABULARY_METRICS
        if (size := record.metric(name)) is not None
    ]
    return " and ".join(f"{size:,.0f}" for size in dict.fromkeys(sizes)) or f"{experiment.tokenizer.most_pieces:,}"


def _fingerprints(found: set[str]) -> str:
    """At most three: a study that varies its data has one a row, and the records keep them all."""
    shown = sorted(found)[:3]
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return f" (fingerprint {', '.join(shown)}{more})" if shown else ""
