"""From a run of another tool to a foreign record: metrics under our names and units, settings on our paths, a curve."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ablatable.adopt.found import FoundRun, Line
from ablatable.adopt.mapping import Mapped, Term
from ablatable.config import tree
from ablatable.errors import InputError, nearest
from ablatable.record.foreign import ForeignRecord, Origin, foreign_id
from ablatable.record.schema import CurvePoint, Labels, Metric
from ablatable.study.reported import MEASURES

UNITS = {
    "nll": "nats/token",
    "ppl": "perplexity/token",
    "bpc": "bits/character",
    "bleu": "BLEU",
    "bleu_paper": "BLEU",
    "chrf": "chrF",
    "oov_source": "fraction",
    "oov_target": "fraction",
    "flops": "FLOPs",
    "parameters": "",
}

_SPLITS = {"valid": "valid", "val": "valid", "validation": "valid", "dev": "valid", "test": "test"}
_METRICS = {
    "nll": "nll",
    "ppl": "ppl",
    "perplexity": "ppl",
    "bpc": "bpc",
    "bleu": "bleu",
    "sacrebleu": "bleu",
    "chrf": "chrf",
}
"""Names that can only mean one thing. A loss is none of them: it may be smoothed, or summed, or per sentence."""

_UPDATES = ("update", "updates", "num_updates", "global_step", "trainer/global_step")
"""Numbers under which tools log the update; a tool's own step may count calls of its logger."""

_PERCENT = ("bleu", "bleu_paper", "chrf")
"""Scores that go to 100 here, and to 1 with some tools."""

_LISTED = 12


@dataclass(frozen=True)
class Converted:
    """A record, and the numbers of the source that it does not take."""

    record: ForeignRecord
    left: tuple[str, ...]


def convert(run: FoundRun, mapped: Mapped, labels: tuple[str, str, int], imported: str) -> Converted:
    """Make the record of a run.

    Args:
        run: what was found.
        mapped: what its names mean.
        labels: study, row and seed.
        imported: now, UTC.

    Raises:
        InputError: no metric of ours in it, a name it has not got, a value that is not finite or
            that its unit does not have.
    """
    terms = _terms(run, mapped)
    metrics = _metrics(run, terms)
    curve = _curve(run, terms, _update_name(run, mapped))
    study, row, seed = labels
    record = ForeignRecord(
        id=foreign_id(study, row, seed),
        labels=Labels(study, row, None),
        seed=seed,
        origin=Origin(run.tool, run.source.resolve().name, run.name, run.version, run.digest, imported),
        config=_config(run, mapped),
        told=dict(run.config),
        status="completed" if run.fault is None else "interrupted",
        cause=run.fault,
        metrics=metrics,
        curve=curve,
        updates=max((point.update for point in curve), default=None),
    )
    taken = {term.name for term in terms.values()} | {_update_name(run, mapped)}
    return Converted(record, tuple(sorted(name for name in run.final if name not in taken and name[:1] != "_")))


def _terms(run: FoundRun, mapped: Mapped) -> dict[str, Term]:
    for ours, term in mapped.metrics.items():
        if term.name not in run.final:
            raise InputError(
                f"run {run.said} has no number '{term.name}' for {ours}{nearest(term.name, run.final)} "
                f"(it has {_some(run.final)})"
            )
    known: dict[str, Term] = {}
    spoken_for = {term.name for term in mapped.metrics.values()}
    for name in sorted(run.final):
        ours = known_name(name)
        if ours is not None and ours not in mapped.metrics and name not in spoken_for:
            if ours in known and known[ours].name == ours:  # a summary; the other is its curve
                continue
            if name == ours:
                known.pop(ours, None)
            if ours in known:
                raise InputError(
                    f"run {run.said}: '{known[ours].name}' and '{name}' may both be {ours}; say which: "
                    f"--metric {ours}={name}"
                )
            known[ours] = Term(name)
    terms = {**known, **mapped.metrics}
    if not terms:
        raise InputError(
            f"run {run.said} has no metric under a name that is known here; say what its numbers are, such as "
            f"--metric valid.nll={next(iter(sorted(run.final)), 'val_loss')} (it has {_some(run.final) or 'none'})"
        )
    return terms


def known_name(name: str) -> str | None:
    """Our name of a number that can only mean one thing (``val/bleu``), None of any other."""
    split, *metric = [part for part in re.split(r"[/_. -]", name.lower()) if part]
    if len(metric) == 1 and split in _SPLITS and metric[0] in _METRICS:
        return f"{_SPLITS[split]}.{_METRICS[metric[0]]}"
    return None


def _some(names: Mapping[str, float]) -> str:
    shown = sorted(name for name in names if name[:1] != "_")
    return ", ".join(shown[:_LISTED]) + (f" and {len(shown) - _LISTED} more" if len(shown) > _LISTED else "")


def _metrics(run: FoundRun, terms: Mapping[str, Term]) -> dict[str, Metric]:
    found = {ours: Metric(_value(run, ours, term), UNITS[_kind(ours)]) for ours, term in terms.items()}
    for split in ("valid", "test"):
        nll, ppl = found.get(f"{split}.nll"), found.get(f"{split}.ppl")
        if nll is not None and ppl is None:
            found[f"{split}.ppl"] = Metric(math.exp(nll.value), UNITS["ppl"], f"exp of {split}.nll")
        elif ppl is not None and nll is None:
            found[f"{split}.nll"] = Metric(math.log(ppl.value), UNITS["nll"], f"log of {split}.ppl")
    return found


def _kind(ours: str) -> str:
    return ours.rpartition(".")[2]


def _value(run: FoundRun, ours: str, term: Term) -> float:
    value = run.final[term.name] * term.factor
    if not math.isfinite(value):
        raise InputError(
            f"run {run.said}: {term.name} ends as {value}, which is no {ours}; a diverged run has no number"
        )
    measure = MEASURES[_kind(ours)]
    if measure.least <= value <= measure.most or (_kind(ours) in _PERCENT and _is_meant(ours, term, value)):
        return value
    if _kind(ours) in _PERCENT and 0 < value < 1:
        remedy = (
            f"--metric {ours}=100*{term.name} if it is a fraction, or --metric {ours}=1*{term.name} if it is meant so"
        )
    else:
        remedy = f"map it with a factor to our unit, such as --metric {ours}=0.5*{term.name}, or map another number"
    raise InputError(f"run {run.said}: {term.name} is {value:g}, and {measure.said}; {remedy}")


def _is_meant(ours: str, term: Term, value: float) -> bool:
    """Whether a score below 1 is no fraction in disguise: nothing at all, our own summary's, or said with a factor."""
    return 0 <= value <= 1 and (value == 0 or term.name == ours or not term.plain)


def _update_name(run: FoundRun, mapped: Mapped) -> str | None:
    logged = {name for line in run.lines for name in line.values}
    if mapped.update is not None:
        if mapped.update not in logged:
            raise InputError(
                f"run {run.said} logs no '{mapped.update}' to count updates by{nearest(mapped.update, logged)}"
            )
        return mapped.update
    return next((name for name in _UPDATES if name in logged), None)


def _curve(run: FoundRun, terms: Mapping[str, Term], update: str | None) -> list[CurvePoint]:
    """Development loss by update; empty where it was logged by neither name."""
    points: dict[int, CurvePoint] = {}
    at: float | None = None
    for line in run.lines:
        at = line.values.get(update, at) if update is not None else line.step
        loss = _loss(line, terms)
        if loss is not None and at is not None:
            points[int(at)] = CurvePoint(int(at), loss, None, line.seconds or 0.0)
    return [points[key] for key in sorted(points)]


def _loss(line: Line, terms: Mapping[str, Term]) -> float | None:
    nll, ppl = _logged(line, terms, "valid.nll"), _logged(line, terms, "valid.ppl")
    if nll is not None:
        return nll
    return math.log(ppl) if ppl is not None and ppl > 0 else None


def _logged(line: Line, terms: Mapping[str, Term], ours: str) -> float | None:
    """The value of a metric of ours at one step: by the name that was mapped, or one that is known for it."""
    term = terms.get(ours)
    if term is not None and term.name in line.values:
        return line.values[term.name] * term.factor
    return next((value for name, value in line.values.items() if known_name(name) == ours), None)


def _config(run: FoundRun, mapped: Mapped) -> dict[str, Any]:
    """Settings that were mapped, and those that the source has under our own paths."""
    found: dict[str, Any] = {path: run.config[path] for path in tree.leaves() if path in run.config}
    for path, key in mapped.settings.items():
        if key not in run.config:
            raise InputError(
                f"run {run.said} has no setting '{key}' for {path}{nearest(key, run.config)} "
                f"(it has {', '.join(sorted(run.config)[:_LISTED]) or 'none'})"
            )
        found[path] = run.config[key]
    nested: dict[str, Any] = {}
    for path, value in found.items():
        section, dot, name = path.rpartition(".")
        (nested.setdefault(section, {}) if dot else nested)[name] = value
    return nested
