"""A study at a scale with what is known about its runs: from `runs/`, or from the published `results/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ablatable.config.locate import cache_folder, display, results_folder, runs_folder
from ablatable.errors import InputError
from ablatable.record.foreign import ForeignRecord, foreign_records
from ablatable.record.schema import Record
from ablatable.record.store import RECORD_FILE, Store
from ablatable.study.fingerprints import local_fingerprint, recorded_fingerprint
from ablatable.study.load import load_study
from ablatable.study.records_file import IMPORTED_FILE, RECORDS_FILE, read_imported, read_records
from ablatable.study.resolve import Fingerprint, resolve, scale_of, with_another_seed
from ablatable.study.schema import RowRuns, Study
from ablatable.study.tuning.schema import TRIALS_FILE

if TYPE_CHECKING:
    from ablatable.study.tuning.outcome import Kept, Searched
    from ablatable.study.tuning.trials import Trial


def _no_search() -> dict[str, Searched]:
    return {}


@dataclass(frozen=True)
class Expected:
    """The runs a table needs and where they are looked for. `provisional`: the corpus was never fetched."""

    study: Study
    scale: str
    rows: list[RowRuns]
    store: Store
    provisional: bool
    fingerprint: Fingerprint
    searches: dict[str, Searched] = field(default_factory=_no_search)
    """By the row that is searched, where the study is tuned."""

    @property
    def unfinished(self) -> set[str]:
        """Ids of the runs without a completed record."""
        return {id for row in self.rows for id in row.ids if self.store.status(id).state != "completed"}


@dataclass(frozen=True)
class Gathered:
    """The runs a table needs and the records there are of them, by id; what was imported stands apart."""

    study: Study
    scale: str
    rows: list[RowRuns]
    records: dict[str, Record]
    searches: dict[str, Searched] = field(default_factory=_no_search)
    trial_records: dict[str, Record] = field(default_factory=dict[str, Record])
    """Of the runs of the searches' trials, by id."""
    imported: Mapping[str, tuple[ForeignRecord, ...]] = field(default_factory=dict[str, tuple[ForeignRecord, ...]])
    """Of each row that says `imported`, what was imported for it, by seed."""


@dataclass(frozen=True)
class Published:
    """What was published of a table: its records and what was imported, by id; its searches' trials, by search, and
    the records of those.
    """

    records: dict[str, Record]
    trials: dict[str, list[Trial]]
    trial_records: dict[str, Record]
    imported: dict[str, ForeignRecord]


NOTHING = Published({}, {}, {}, {})


def expected(study: str, scale: str | None, seeds: int | None, *, experiment: str | None = None) -> Expected:
    """Resolve a study against the runs folder, the corpora on this machine and the records there are.

    Args:
        study: name or path.
        scale: name; None: the study's default.
        seeds: repeats of every row; None: as many as any row was begun with, one at least.
        experiment: another baseline.

    Raises:
        InputError: see :func:`ablatable.study.resolve.resolve`.
    """
    loaded, name = _loaded(study, scale)
    store = Store(runs_folder())
    fingerprint = local_fingerprint(cache_folder(), store.records)
    rows, searches = _resolved(loaded, name, seeds, fingerprint, _kept, experiment)
    if seeds is None:
        rows = _all_seeds(rows, fingerprint, lambda id: store.folder(id).is_dir())
    provisional = any(fingerprint(row.experiments[0].data) is None for row in rows)
    return Expected(loaded, name, rows, store, provisional, fingerprint, searches)


def from_runs(
    study: str, scale: str | None, seeds: int | None = None, *, published: Published | None = None
) -> Gathered:
    """A table's rows and the records of them in `runs/`.

    Args:
        study: name or path.
        scale: name; None: the study's default.
        seeds: repeats of every row; None: as many as any row has a record of, one at least.
        published: what stands in where `runs/` has none.

    Raises:
        InputError: as :func:`expected`, a corrupted record, or a search that its records do not bear out.
    """
    loaded, name = _loaded(study, scale)
    store = Store(runs_folder())
    others = published or NOTHING
    fingerprint = local_fingerprint(cache_folder(), lambda: [*others.records.values(), *store.records()])
    rows, searches = _resolved(
        loaded, name, seeds, fingerprint, lambda search: _kept(search) or others.trials.get(search, ())
    )
    if seeds is None:
        rows = _all_seeds(
            rows,
            fingerprint,
            lambda id: id in others.records or (store.folder(id) / RECORD_FILE).is_file(),
        )
    found = {id: store.read(id) or others.records.get(id) for row in rows for id in row.ids}
    records = {id: record for id, record in found.items() if record is not None}
    of_trials = {id: store.read(id) or others.trial_records.get(id) for id in _trial_runs(searches)}
    trial_records = {id: one for id, one in of_trials.items() if one is not None}
    imported = imported_runs(loaded, name, store.root, others.imported)
    return _checked(Gathered(loaded, name, rows, records, searches, trial_records, imported))


def from_results(study: str, scale: str | None, seeds: int | None = None) -> Gathered:
    """A table's rows and their published records; needs neither `runs/` nor the corpus.

    Raises:
        InputError: nothing published for this study and scale, a corrupted file, a search that its records do not bear
            out, or a study that does not resolve.
    """
    loaded, name = _loaded(study, scale)
    path = published_folder(loaded, name) / RECORDS_FILE
    if not path.is_file():
        raise InputError(
            f"{display(path)}: nothing is published for {loaded.name} at scale {name}; run it, then publish"
        )
    there = _published(loaded, name)
    fingerprint = recorded_fingerprint([*there.records.values(), *there.trial_records.values()])
    rows, searches = _resolved(loaded, name, seeds, fingerprint, lambda search: there.trials.get(search, ()))
    if seeds is None:
        rows = _all_seeds(rows, fingerprint, there.records.__contains__)
    wanted = {id for row in rows for id in row.ids}
    records = {id: record for id, record in there.records.items() if id in wanted}
    imported = _by_row(loaded, name, there.imported.values())
    return _checked(Gathered(loaded, name, rows, records, searches, there.trial_records, imported))


def imported_runs(
    study: Study, scale: str, root: Path, published: Mapping[str, ForeignRecord] | None = None
) -> dict[str, tuple[ForeignRecord, ...]]:
    """What was imported for a study's rows, from the runs folder, else as published before; looked for where rows ask.

    Raises:
        InputError: a damaged file.
    """
    if not study.imported(scale):
        return {}
    there = {record.id: record for record in foreign_records(root)}
    return _by_row(study, scale, {**(published or {}), **there}.values())


def _by_row(study: Study, scale: str, records: Iterable[ForeignRecord]) -> dict[str, tuple[ForeignRecord, ...]]:
    own = sorted((record for record in records if record.labels.study == study.name), key=lambda record: record.seed)
    return {row.name: tuple(r for r in own if r.labels.row == row.name) for row in study.imported(scale)}


def published(study: str, scale: str | None) -> Published:
    """What was published for a study and scale, whatever table it belonged to; nothing where nothing is.

    Raises:
        InputError: a corrupted file, an unknown study or scale.
    """
    return _published(*_loaded(study, scale))


def _published(study: Study, scale: str) -> Published:
    folder = published_folder(study, scale)
    records = read_records(folder / RECORDS_FILE) if (folder / RECORDS_FILE).is_file() else {}
    trials, of_trials = _published_trials(folder / TRIALS_FILE)
    return Published(records, trials, of_trials, read_imported(folder / IMPORTED_FILE))


def _published_trials(path: Path) -> tuple[dict[str, list[Trial]], dict[str, Record]]:
    if not path.is_file():
        return {}, {}
    from ablatable.study.tuning.trials import read_published

    return read_published(path)


def _kept(search: str) -> Sequence[Trial]:
    from ablatable.study.tuning.trials import kept

    return kept(search)


def _resolved(
    study: Study,
    scale: str,
    seeds: int | None,
    fingerprint: Fingerprint,
    trials: Kept,
    experiment: str | None = None,
) -> tuple[list[RowRuns], dict[str, Searched]]:
    """The rows, each with what its search chose, and the searches."""
    rows = resolve(study, scale, 1 if seeds is None else seeds, fingerprint, experiment=experiment)
    if study.tuning is None:
        return rows, {}
    from ablatable.study.tuning.outcome import tune
    from ablatable.study.tuning.search import searches_of

    return tune(rows, searches_of(study, scale, rows, fingerprint, experiment), trials, fingerprint)


def _trial_runs(searches: Mapping[str, Searched]) -> set[str]:
    return {id for searched in searches.values() for trial in searched.trials for id in trial.runs}


def _checked(gathered: Gathered) -> Gathered:
    if not gathered.searches:
        return gathered
    from ablatable.study.tuning.outcome import check

    for searched in gathered.searches.values():
        check(searched, gathered.trial_records)
    return gathered


def _loaded(study: str, scale: str | None) -> tuple[Study, str]:
    loaded = load_study(study)
    return loaded, scale_of(loaded, scale).name


def published_folder(study: Study, scale: str) -> Path:
    """`results/<study>/<scale>`, where a table and the records behind it are published."""
    return results_folder() / study.name / scale


def _all_seeds(rows: list[RowRuns], fingerprint: Fingerprint, there: Callable[[str], bool]) -> list[RowRuns]:
    """The rows with as many seeds as any of them has runs for, counted up from the first without a gap."""
    while True:
        more = [with_another_seed(row, fingerprint) for row in rows]
        added = [row for row, before in zip(more, rows, strict=True) if len(row.ids) > len(before.ids)]
        if not any(there(row.ids[-1]) for row in added):
            return rows
        rows = more
