"""The sentences behind the scores: source and reference from the corpus on this machine, translations from each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ablatable.config.dump import from_dict
from ablatable.config.schema import Experiment
from ablatable.data.corpora import get, local_fingerprint
from ablatable.data.lines import read_lines
from ablatable.errors import InputError
from ablatable.record.schema import Record
from ablatable.report.compare.side import Run, Side

if TYPE_CHECKING:
    from ablatable.scoring.statistics import Floats, MeasureName

_TOLERANCE = 1e-6
"""Of a score that is made again from the same text with the same version."""

_WITHOUT = "leave the sentences out with --parts config,metrics,curves"


@dataclass(frozen=True)
class Text:
    """The sentences that one run of every side translated: equally many lines each."""

    sources: tuple[str, ...]
    references: tuple[str, ...]
    hypotheses: tuple[tuple[str, ...], ...]
    runs: tuple[Run, ...]
    counts: dict[MeasureName, tuple[Floats, ...]]


def why_not_paired(sides: Sequence[Side]) -> str | None:
    """A sentence that says why the sides' translations are not of the same sentences; None where they are."""
    foreign = [side.letter for side in sides if side.imported]
    if foreign:
        was = "was" if len(foreign) == 1 else "were"
        return (
            f"{' and '.join(foreign)} {was} imported without translations, and a paired test needs the same sentences"
        )
    records = [record for side in sides for record in side.ours]
    texts = {(record.stamp.corpus, record.stamp.corpus_fingerprint) for record in records}
    if len(texts) > 1:
        named = " and ".join(f"{corpus} ({fingerprint})" for corpus, fingerprint in sorted(texts))
        return f"the runs translated different text, {named}, and a paired test needs the same sentences"
    counts = {str(_evaluate(record).get("sentences") or "all") for record in records}
    if len(counts) > 1:
        return (
            f"the runs translated different numbers of sentences (evaluate.sentences: {' and '.join(sorted(counts))}), "
            "and a paired test needs the same ones"
        )
    return None


def _evaluate(record: Record) -> dict[str, Any]:
    return record.config.get("evaluate", {})


def representatives(sides: Sequence[Side]) -> tuple[Run, ...]:
    """One run of each side: of the smallest seed that all have, else of each its own smallest."""
    shared = set(sides[0].seeds).intersection(*(side.seeds for side in sides[1:]))
    wanted = min(shared, default=None)
    return tuple(next((run for run in side.runs if run.record.seed == wanted), side.runs[0]) for side in sides)


def read_text(sides: Sequence[Side], split: str, cache: Path, measures: Sequence[MeasureName]) -> Text:
    """The sentences of `representatives`, with their counts.

    Raises:
        InputError: the corpus is not on this machine or is another release than was scored; a run has no translations,
            or other ones than its record was made from.
    """
    from ablatable.scoring.statistics import MEASURES

    runs = representatives(sides)
    sources, references = _corpus_lines(_own(runs[0]), split, cache)
    hypotheses = tuple(_translations(run, split, len(references)) for run in runs)
    counts: dict[MeasureName, tuple[Floats, ...]] = {
        name: tuple(MEASURES[name].counts(lines, references) for lines in hypotheses) for name in measures
    }
    for name in measures:
        for run, own in zip(runs, counts[name], strict=True):
            _check_score(run, split, name, own)
    return Text(sources, references, hypotheses, runs, counts)


def _own(run: Run) -> Record:
    if not isinstance(run.record, Record):
        raise InputError(f"run {run.record.id} was imported without translations; {_WITHOUT}")
    return run.record


def _corpus_lines(record: Record, split: str, cache: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Source and reference lines; nothing is fetched."""
    experiment = from_dict(record.config, f"the record of run {record.id}")
    found = local_fingerprint(experiment.data, cache)
    name = experiment.data.corpus
    if found is None:
        raise InputError(
            f"the corpus {name}, whose sentences were translated, is not on this machine; fetch it with "
            f"`ablatable corpus get {name}`, or {_WITHOUT}"
        )
    if found != record.stamp.corpus_fingerprint:
        raise InputError(
            f"the corpus {name} on this machine ({found}) is not the release that run {record.id} was scored on "
            f"({record.stamp.corpus_fingerprint}); {_WITHOUT}"
        )
    return _lines(experiment, split, cache)


def _lines(experiment: Experiment, split: str, cache: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    corpus = get(experiment.data, cache, say=lambda message: None)
    first = experiment.evaluate.sentences
    sources, references = (tuple(read_lines(corpus.path(split, side), first)) for side in ("source", "target"))
    return sources, references


def _translations(run: Run, split: str, expected: int) -> tuple[str, ...]:
    record = _own(run)
    if run.folder is None:
        raise InputError(f"run {record.id} is published without its translations; {_WITHOUT}")
    if record.status != "completed":
        raise InputError(f"run {record.id} has no translations: it {record.status} ({record.cause}); {_WITHOUT}")
    if f"{split}.bleu" not in record.metrics:
        scored = ", ".join(_evaluate(record).get("splits", [])) or "nothing"
        raise InputError(f"run {record.id} was scored on {scored}, not on {split}; choose another --split")
    path = run.folder / f"hypotheses.{split}.txt"
    if not path.is_file():
        raise InputError(f"run {record.id} has no translations of {split}, {path} is gone; {_WITHOUT}")
    lines = tuple(read_lines(path))
    if len(lines) != expected:
        raise InputError(
            f"{path} has {len(lines)} lines for {expected} sentences of {split}: it is not what was scored; {_WITHOUT}"
        )
    return lines


def _check_score(run: Run, split: str, name: MeasureName, counts: Floats) -> None:
    """The translations must be those that the record's score was made from."""
    from ablatable.scoring.statistics import MEASURES

    measure = MEASURES[name]
    recorded = run.record.metrics.get(f"{split}.{name}")
    if recorded is None or recorded.signature != measure.signature():
        return  # another version of sacreBLEU may well count otherwise
    found = float(measure.score(counts.sum(axis=0)))
    if abs(found - recorded.value) > _TOLERANCE:
        raise InputError(
            f"the translations of run {run.record.id} give {measure.name} {found:.4f} on {split}, and its record says "
            f"{recorded.value:.4f}: hypotheses.{split}.txt or the corpus is not what was scored"
        )
