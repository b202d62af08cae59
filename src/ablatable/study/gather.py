"""A study at a scale with what is known about its runs: from `runs/`, or from the published `results/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass(frozen=True)
class Expected:
    """The runs a table needs and where they are looked for. `provisional`: the corpus was never fetched."""

    study: Study
    scale: str
    rows: list[RowRuns]
    store: Store
    provisional: bool
    fingerprint: Fingerprint

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
    imported: Mapping[str, tuple[ForeignRecord, ...]] = field(default_factory=dict[str, tuple[ForeignRecord, ...]])
    """Of each row that says `imported`, what was imported for it, by seed."""


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
    rows = resolve(loaded, name, 1 if seeds is None else seeds, fingerprint, experiment=experiment)
    if seeds is None:
        rows = _all_seeds(rows, fingerprint, lambda id: store.folder(id).is_dir())
    provisional = any(fingerprint(row.experiments[0].data) is None for row in rows)
    return Expected(loaded, name, rows, store, provisional, fingerprint)


def from_runs(
    study: str,
    scale: str | None,
    seeds: int | None = None,
    *,
    published: Mapping[str, Record] | None = None,
    published_imports: Mapping[str, ForeignRecord] | None = None,
) -> Gathered:
    """A table's rows and the records of them in `runs/`.

    Args:
        study: name or path.
        scale: name; None: the study's default.
        seeds: repeats of every row; None: as many as any row has a record of, one at least.
        published: records by id that stand in where `runs/` has none.
        published_imports: the same of what was imported.

    Raises:
        InputError: as :func:`expected`, or a corrupted record.
    """
    loaded, name = _loaded(study, scale)
    store = Store(runs_folder())
    others = published or {}
    fingerprint = local_fingerprint(cache_folder(), lambda: [*others.values(), *store.records()])
    rows = resolve(loaded, name, 1 if seeds is None else seeds, fingerprint)
    if seeds is None:
        rows = _all_seeds(
            rows,
            fingerprint,
            lambda id: id in others or (store.folder(id) / RECORD_FILE).is_file(),
        )
    found = {id: store.read(id) or others.get(id) for row in rows for id in row.ids}
    records = {id: record for id, record in found.items() if record is not None}
    return Gathered(loaded, name, rows, records, imported_runs(loaded, name, store.root, published_imports))


def from_results(study: str, scale: str | None, seeds: int | None = None) -> Gathered:
    """A table's rows and their published records; needs neither `runs/` nor the corpus.

    Raises:
        InputError: nothing published for this study and scale, a corrupted file, or a study that does not
            resolve.
    """
    loaded, name = _loaded(study, scale)
    path = published_folder(loaded, name) / RECORDS_FILE
    if not path.is_file():
        raise InputError(
            f"{display(path)}: nothing is published for {loaded.name} at scale {name}; run it, then publish"
        )
    records = read_records(path)
    fingerprint = recorded_fingerprint(records.values())
    rows = resolve(loaded, name, 1 if seeds is None else seeds, fingerprint)
    if seeds is None:
        rows = _all_seeds(rows, fingerprint, records.__contains__)
    wanted = {id for row in rows for id in row.ids}
    imported = _by_row(loaded, name, read_imported(path.with_name(IMPORTED_FILE)).values())
    return Gathered(loaded, name, rows, {id: record for id, record in records.items() if id in wanted}, imported)


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


def published_records(study: str, scale: str | None) -> dict[str, Record]:
    """The records published for a study and scale, whatever table they belonged to; none where nothing is.

    Raises:
        InputError: a corrupted file, an unknown study or scale.
    """
    path = published_folder(*_loaded(study, scale)) / RECORDS_FILE
    return read_records(path) if path.is_file() else {}


def published_imports(study: str, scale: str | None) -> dict[str, ForeignRecord]:
    """What was imported and is published for a study and scale; none where nothing is.

    Raises:
        InputError: a corrupted file, an unknown study or scale.
    """
    return read_imported(published_folder(*_loaded(study, scale)) / IMPORTED_FILE)


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
