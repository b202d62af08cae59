"""From a study, a scale and a number of seeds to the runs a table needs.

A row is written once at paper size; the scale maps it. Two rows that come out as the same run (N=2 halved
beside N=1, say) would fill two lines of the table with one number, so that is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ablatable.config.data import Data
from ablatable.config.identity import run_id
from ablatable.config.layers import Layer, Setting
from ablatable.config.load import experiment_layers
from ablatable.config.load import resolve as resolve_experiment
from ablatable.config.scale import Scale, load_scale
from ablatable.config.schema import LARGEST_SEED, Experiment
from ablatable.errors import InputError, nearest
from ablatable.study.schema import Row, RowRuns, Study

Fingerprint = Callable[[Data], str | None]
"""Fingerprint of a corpus; None where it is not known (never fetched), which makes the ids provisional."""


def resolve(
    study: Study,
    scale: str | None,
    seeds: int,
    fingerprint: Fingerprint,
    *,
    experiment: str | None = None,
    overrides: Layer | None = None,
) -> list[RowRuns]:
    """The study's rows at a scale, in the file's order, each with one experiment and run id per seed.

    Args:
        study: the table.
        scale: name of a scale; None: the study's default.
        seeds: repeats of every row: the baseline's seed and the numbers after it.
        fingerprint: the fingerprint of a corpus.
        experiment: another baseline than the study's own.
        overrides: settings over everything else, the same for every row.

    Raises:
        InputError: unknown scale or baseline, a row that changes nothing or equals another row, a row the
            scale makes impossible, or a split the runs would not evaluate.
    """
    if seeds < 1:
        raise InputError(f"--seeds {seeds}: a table needs one seed at least")
    used = scale_of(study, scale)
    built = _experiments(study, used, experiment, overrides)
    _refuse_equal_rows(study, used, experiment, built, overrides)
    _refuse_unscored_split(study, built)
    return [RowRuns(row, *_repeats(built[row.name], seeds, fingerprint)) for row in study.rows]


def scale_of(study: Study, scale: str | None) -> Scale:
    """The scale a study is asked to run at.

    Raises:
        InputError: unknown, or not among those the study allows.
    """
    name = scale if scale is not None else study.default_scale
    loaded = load_scale(name)
    if study.scales and loaded.name not in study.scales:
        raise InputError(
            f"{study.origin.where('scales')}: study '{study.name}' runs at {', '.join(study.scales)}, "
            f"not at '{loaded.name}'{nearest(loaded.name, study.scales)}"
        )
    return loaded


def row_layer(study: Study, row: Row) -> Layer:
    """What a row sets, each setting with its place in the study's file."""
    index = study.rows.index(row)
    return {path: Setting(value, study.origin.where("rows", index, "set", path)) for path, value in row.set.items()}


def _experiments(
    study: Study, scale: Scale | None, experiment: str | None, overrides: Layer | None
) -> dict[str, Experiment]:
    base = _baseline_layers(study, experiment)
    return {row.name: resolve_experiment(base, row_layer(study, row), scale, overrides) for row in study.rows}


def _baseline_layers(study: Study, experiment: str | None) -> list[Layer]:
    if experiment is not None:
        return experiment_layers(experiment)
    try:
        return experiment_layers(study.baseline)
    except InputError as error:
        raise InputError(f"{study.origin.where('baseline')}: {error}") from error


def with_another_seed(row: RowRuns, fingerprint: Fingerprint) -> RowRuns:
    """The row with one repeat more, its seed the next number; as it is where there is no next number."""
    if row.experiments[-1].seed == LARGEST_SEED:
        return row
    repeat = replace(row.experiments[-1], seed=row.experiments[-1].seed + 1)
    id = run_id(repeat, fingerprint(repeat.data))
    return RowRuns(row.row, (*row.experiments, repeat), (*row.ids, id))


def _repeats(
    experiment: Experiment, seeds: int, fingerprint: Fingerprint
) -> tuple[tuple[Experiment, ...], tuple[str, ...]]:
    if experiment.seed + seeds - 1 > LARGEST_SEED:
        raise InputError(f"--seeds {seeds}: seed={experiment.seed} leaves fewer up to {LARGEST_SEED}")
    repeats = tuple(replace(experiment, seed=experiment.seed + i) for i in range(seeds))
    corpus = fingerprint(experiment.data)
    return repeats, tuple(run_id(repeat, corpus) for repeat in repeats)


def _refuse_equal_rows(
    study: Study, scale: Scale, experiment: str | None, built: dict[str, Experiment], overrides: Layer | None
) -> None:
    pair = _equal_pair(built)
    if pair is None:
        return
    at_paper_size = _equal_pair(_experiments(study, None, experiment, None))
    if at_paper_size is not None:
        raise InputError(_equal_message(study, *at_paper_size, experiment))
    cause = f"at scale {scale.name}" + (" with these overrides" if overrides else "")
    first, second = pair
    raise InputError(
        f"{_place(study, second)}: rows '{first}' and '{second}' are the same run {cause}; "
        f"choose another scale or other values, or leave one of them out"
    )


def _equal_pair(built: dict[str, Experiment]) -> tuple[str, str] | None:
    """The first two rows that mean the same run, if any."""
    seen: dict[str, str] = {}
    for name, experiment in built.items():
        identity = run_id(experiment, None)
        if identity in seen:
            return seen[identity], name
        seen[identity] = name
    return None


def _equal_message(study: Study, first: str, second: str, experiment: str | None) -> str:
    baseline = study.baseline_row.name
    if baseline in (first, second):
        row = second if first == baseline else first
        said = ", ".join(f"{path}={value}" for path, value in study.row(row).set.items())
        return (
            f"{_place(study, row)}: row '{row}' changes nothing: {said} is what the baseline "
            f"{experiment or study.baseline} has already; change a value or remove the row"
        )
    return (
        f"{_place(study, second)}: rows '{first}' ({_place(study, first)}) and '{second}' are the same run; "
        f"change one or remove it"
    )


def _place(study: Study, name: str) -> str:
    return study.origin.where("rows", [row.name for row in study.rows].index(name))


def _refuse_unscored_split(study: Study, built: dict[str, Experiment]) -> None:
    if not any(column.is_score for column in study.columns):
        return
    for name, experiment in built.items():
        if study.split not in experiment.evaluate.splits:
            raise InputError(
                f"{study.origin.where('split')}: the table shows the {study.split} split, and row '{name}' "
                f"evaluates {', '.join(experiment.evaluate.splits)}; add {study.split} to the baseline's "
                f"evaluate.splits"
            )
