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
from ablatable.config.load import experiment_layers, scaled
from ablatable.config.load import resolve as resolve_experiment
from ablatable.config.scale import Scale, load_scale
from ablatable.config.schema import LARGEST_SEED, Experiment
from ablatable.errors import InputError, nearest
from ablatable.record.schema import Tuned
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

    Rows that do not exist at the scale (`Study.absent`) are left out, and so are those that are imported.

    Args:
        study: the table.
        scale: name of a scale; None: the study's default.
        seeds: repeats of every row: the baseline's seed and the numbers after it.
        fingerprint: the fingerprint of a corpus.
        experiment: another baseline than the study's own.
        overrides: settings over everything else, the same for every row.

    Raises:
        InputError: unknown scale or baseline, a row that changes nothing or equals another row, a row the
            scale makes impossible, or a split or length bucket the runs would not evaluate.
    """
    if seeds < 1:
        raise InputError(f"--seeds {seeds}: a table needs one seed at least")
    used = scale_of(study, scale)
    built = _experiments(study, used, experiment, overrides)
    _refuse_equal_rows(study, used, experiment, built, overrides)
    _refuse_unscored_split(study, built)
    _refuse_unscored_bucket(study, built)
    return [row_runs(row, built[row.name], seeds, fingerprint) for row in study.rows if row.name in built]


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
    index, at = study.rows.index(row), study.origin.where
    at_paper_size = {path: Setting(value, at("rows", index, "set", path)) for path, value in row.set.items()}
    return at_paper_size | {path: Setting(value, at("rows", index, "fixed", path)) for path, value in row.fixed.items()}


def _experiments(study: Study, scale: Scale, experiment: str | None, overrides: Layer | None) -> dict[str, Experiment]:
    """By row, those that exist at the scale.

    Raises:
        InputError: a row that cannot be built; names its key `scales` as a remedy where only the scale forbids it.
    """
    base = _baseline_layers(study, experiment)
    built: dict[str, Experiment] = {}
    for row in _present(study, scale):
        try:
            built[row.name] = _experiment(study, row, base, scale, overrides)
        except InputError as error:
            if not row.changes or not _possible(study, row, base):
                raise
            raise InputError(f"{error}; or leave row '{row.name}' out at this scale by its key 'scales'") from error
    return built


def _experiment(study: Study, row: Row, base: list[Layer], scale: Scale | None, overrides: Layer | None) -> Experiment:
    fixed = _fixed_layer(study)
    return resolve_experiment([*base, fixed], row_layer(study, row), scale, overrides, {*fixed, *row.fixed})


def layers_by_row(study: Study, scale: Scale, experiment: str | None) -> dict[str, list[Layer]]:
    """All that each row which exists at the scale is made of, the later layers over the earlier.

    Raises:
        InputError: as :func:`resolve`.
    """
    fixed = _fixed_layer(study)
    base = [*_baseline_layers(study, experiment), fixed]
    return {
        row.name: scaled(base, row_layer(study, row), scale, {*fixed, *row.fixed}) for row in _present(study, scale)
    }


def _fixed_layer(study: Study) -> Layer:
    return {path: Setting(value, study.origin.where("fixed", path)) for path, value in study.fixed.items()}


def _possible(study: Study, row: Row, base: list[Layer]) -> bool:
    """Whether the row can be built at paper size."""
    try:
        _experiment(study, row, base, None, None)
    except InputError:
        return False
    return True


def _present(study: Study, scale: Scale) -> list[Row]:
    return [row for row in study.rows if row.absence(scale.name) is None and not row.imported]


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
    id = _identity(repeat, fingerprint(repeat.data), row.awaits)
    return replace(row, experiments=(*row.experiments, repeat), ids=(*row.ids, id))


def row_runs(
    row: Row,
    experiment: Experiment,
    seeds: int,
    fingerprint: Fingerprint,
    *,
    tuned: Tuned | None = None,
    awaits: str | None = None,
    search_failed: bool = False,
) -> RowRuns:
    """A row's runs: an experiment with its seed and the numbers after it.

    Args:
        row: the row.
        experiment: what its first seed runs.
        seeds: how many.
        fingerprint: of a corpus.
        tuned: which of the settings a search chose.
        awaits: why the settings to tune are not known yet. The ids are then those of no run.
        search_failed: whether they never will be.

    Raises:
        InputError: there are not so many seeds.
    """
    if experiment.seed + seeds - 1 > LARGEST_SEED:
        raise InputError(f"--seeds {seeds}: seed={experiment.seed} leaves fewer up to {LARGEST_SEED}")
    repeats = tuple(replace(experiment, seed=experiment.seed + i) for i in range(seeds))
    corpus = fingerprint(experiment.data)
    ids = tuple(_identity(repeat, corpus, awaits) for repeat in repeats)
    return RowRuns(row, repeats, ids, tuned, awaits, search_failed)


def _identity(experiment: Experiment, corpus: str | None, awaits: str | None) -> str:
    # With the settings that are there now the row may well be a run of another table, and must not pass for it.
    return run_id(experiment, corpus if awaits is None else f"{corpus} untuned")


def _refuse_equal_rows(
    study: Study, scale: Scale, experiment: str | None, built: dict[str, Experiment], overrides: Layer | None
) -> None:
    pair = _equal_pair(built)
    if pair is None:
        return
    base = _baseline_layers(study, experiment)
    at_paper_size = _equal_pair({row.name: _experiment(study, row, base, None, None) for row in _present(study, scale)})
    if at_paper_size is not None:
        raise InputError(_equal_message(study, *at_paper_size, experiment))
    cause = f"at scale {scale.name}" + (" with these overrides" if overrides else "")
    first, second = pair
    raise InputError(
        f"{_place(study, second)}: rows '{first}' and '{second}' are the same run {cause}; "
        f"choose another scale or other values, or leave one of them out at this scale by its key 'scales'"
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
        said = ", ".join(f"{path}={value}" for path, value in study.row(row).changes.items())
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


def _refuse_unscored_bucket(study: Study, built: dict[str, Experiment]) -> None:
    for i, column in enumerate(study.columns):
        if column.bucket is None:
            continue
        for name, experiment in built.items():
            if column.bucket not in experiment.evaluate.buckets:
                there = ", ".join(experiment.evaluate.buckets) or "none: evaluate.length_buckets makes them"
                raise InputError(
                    f"{study.origin.where('columns', i, 'bucket')}: row '{name}' has no length bucket "
                    f"'{column.bucket}'{nearest(column.bucket, experiment.evaluate.buckets)} (it has {there})"
                )
