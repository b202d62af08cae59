"""Publishing a search: its trials, the records behind them and its plots, into `results/sweeps/<name>/`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ablatable.config.dump import is_active
from ablatable.config.layers import said
from ablatable.config.locate import display, results_folder, runs_folder
from ablatable.errors import RunFailed
from ablatable.record.files import write_atomic
from ablatable.record.schema import Record
from ablatable.record.store import Store
from ablatable.report.markdown import escape
from ablatable.report.plain_table import markdown_table
from ablatable.report.provenance import provenance
from ablatable.study.records_file import RECORDS_FILE, write_records
from ablatable.study.sweep.keeper import description, read_study
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.plots import write_plots
from ablatable.study.sweep.status import counts_line, ends, front, trial_line
from ablatable.study.sweep.trials import Tried, counts

_UNFINISHED = ("running", "waiting")


@dataclass(frozen=True)
class PublishedSweep:
    """What was written where, and what a reader must know about it."""

    folder: Path
    files: tuple[Path, ...]
    trials: int
    remarks: tuple[str, ...]


def publish_sweep(plan: Plan, storage: str | None = None) -> PublishedSweep:
    """Copy a search into `results/sweeps/<name>/`: every trial that ended, its records, the plots.

    Raises:
        InputError: it was never run, or has fewer than two completed trials.
        RunFailed: a trial's record is not in the runs folder, or the disk is full.
    """
    study, trials = read_study(plan, storage)
    ended = [trial for trial in trials if trial.state not in _UNFINISHED]
    records = _records(ended, Store(runs_folder()))
    folder = results_folder() / "sweeps" / plan.sweep.name
    plots = write_plots(study, ended, plan, folder)
    corpora = {record.stamp.corpus_fingerprint for record in records.values()}
    about = description(plan, corpora.pop() if len(corpora) == 1 else None)
    write_records(folder / RECORDS_FILE, records.values())
    texts = {
        "trials.json": json.dumps(_as_data(ended, plan, about), indent=1, ensure_ascii=False) + "\n",
        "trials.csv": _as_csv(ended, plan),
        "trials.md": _as_markdown(ended, plan, about, records),
    }
    for file, text in texts.items():
        write_atomic(folder / file, text)
    files = (folder / RECORDS_FILE, *(folder / file for file in texts), *plots)
    return PublishedSweep(folder, files, len(ended), tuple(_remarks(trials)))


def _records(ended: Sequence[Tried], store: Store) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for trial in ended:
        for id in trial.runs:
            record = store.read(id)
            # A trial that failed may never have come to a record; one with a value has them all.
            if record is None and trial.state == "completed":
                raise RunFailed(
                    f"trial {trial.number} has no record any more: {display(store.folder(id))} is gone; restore that "
                    "folder, or publish from the machine that ran it"
                )
            if record is not None:
                found[id] = record
    return found


def _remarks(trials: Sequence[Tried]) -> list[str]:
    unfinished = {state: count for state, count in counts(trials).items() if state in _UNFINISHED and count}
    return [f"left out: {count} {state}" for state, count in unfinished.items()]


def _as_data(ended: Sequence[Tried], plan: Plan, about: Mapping[str, Any]) -> dict[str, Any]:
    sweep = plan.sweep
    return {
        "sweep": sweep.name,
        "scale": sweep.scale,
        "experiment": sweep.experiment,
        "sampler": sweep.sampler.kind,
        "pruner": sweep.pruner.kind,
        "searched": about,
        "counts": {state: count for state, count in counts(ended).items() if count},
        "best": [trial.number for trial in front(ended, sweep)],
        "best_at_an_end": [asdict(end) for end in ends(ended, sweep)],
        "trials": [_trial_data(trial, plan) for trial in ended],
    }


def _trial_data(trial: Tried, plan: Plan) -> dict[str, Any]:
    values = dict(zip((one.key for one in plan.sweep.objectives), trial.values, strict=False))
    return {
        "number": trial.number,
        "state": trial.state,
        "point": trial.point,
        "values": values,
        "cause": trial.cause,
        "runs": trial.runs,
    }


def _as_csv(ended: Sequence[Tried], plan: Plan) -> str:
    """Every digit, one line a trial, in the order of their numbers."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    paths = [parameter.path for parameter in plan.space.parameters]
    writer.writerow(["trial", "state", *paths, *(one.key for one in plan.sweep.objectives), "runs", "cause"])
    for trial in ended:
        point = [said(trial.point[path]) if path in trial.point else "" for path in paths]
        values = [repr(value) for value in trial.values] or [""] * len(plan.sweep.objectives)
        writer.writerow([trial.number, trial.state, *point, *values, " ".join(trial.runs), trial.cause or ""])
    return buffer.getvalue()


def _as_markdown(ended: Sequence[Tried], plan: Plan, about: Mapping[str, Any], records: Mapping[str, Record]) -> str:
    """The best first; trials without a value after them."""
    sweep = plan.sweep
    best = {trial.number for trial in front(ended, sweep)}
    paths = [parameter.path for parameter in plan.space.parameters]
    heads = ["trial", *paths, *(f"{one.key} ({one.direction} is better)" for one in sweep.objectives), "state"]
    rows = [_row(trial, paths, len(sweep.objectives), trial.number in best) for trial in _best_first(ended, plan)]
    some = plan.ground.experiment(next(trial.point for trial in ended if trial.state == "completed"))
    settings = ", ".join(
        f"{path}={said(value)}"
        for path, value in about["settings"].items()
        if path not in paths and is_active(some, path)
    )
    repeats = "one seed a trial" if sweep.seeds == 1 else f"{sweep.seeds} seeds a trial, their mean"
    notes = [
        *([sweep.reading] if sweep.reading else []),
        f"{counts_line(ended, sweep.budget)}; {repeats}; selected on the development data. Sampler "
        f"{sweep.sampler.kind}, pruner {sweep.pruner.kind}.",
        *(["Front: no other trial beats these in everything."] if len(sweep.objectives) > 1 else []),
        *(f"Best: {trial_line(trial, sweep)}." for trial in front(ended, sweep) if len(sweep.objectives) == 1),
        *(f"Of the best, {end}." for end in ends(ended, sweep)),
        f"Every trial: {settings}; the rest as the paper's base. Corpus fingerprint {about['corpus'] or 'by trial'}.",
        *provenance(list(records.values())),
    ]
    parts = [f"## {escape(sweep.title)}"]
    if sweep.question:
        parts.append(f"*{escape(sweep.question)}*")
    scale = f", scale {sweep.scale}" if sweep.scale else ""
    parts.append(escape(f"Sweep {sweep.name}{scale}."))
    parts.append(markdown_table(heads, rows, left=()))
    parts.append("\n".join(f"- {escape(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def _best_first(ended: Sequence[Tried], plan: Plan) -> list[Tried]:
    sign = 1.0 if plan.sweep.objectives[0].direction == "lower" else -1.0
    done = sorted((trial for trial in ended if trial.values), key=lambda trial: (sign * trial.values[0], trial.number))
    return [*done, *(trial for trial in ended if not trial.values)]


def _row(trial: Tried, paths: Sequence[str], objectives: int, best: bool) -> list[str]:
    mark = " (best)" if objectives == 1 else " (front)"
    point = [said(trial.point[path]) if path in trial.point else "" for path in paths]
    values = [f"{value:.5g}" for value in trial.values] or [""] * objectives
    return [f"{trial.number}{mark if best else ''}", *point, *values, trial.state]


def to_text(published: PublishedSweep) -> str:
    """What a person is told after publishing."""
    lines = [f"published {published.trials} trials in {display(published.folder)}/"]
    lines += [f"  {file.name}" for file in published.files]
    return "\n".join([*lines, *published.remarks])
