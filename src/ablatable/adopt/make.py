"""An import from beginning to end: everything is read and checked before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ablatable.adopt import ours, places
from ablatable.adopt.convert import Converted, convert
from ablatable.adopt.found import FoundRun
from ablatable.adopt.mapping import Mapped, Place
from ablatable.config.locate import display
from ablatable.errors import InputError, nearest
from ablatable.record.foreign import ForeignRecord, foreign_records, read_foreign, same_import, write_foreign
from ablatable.record.locks import waited_for
from ablatable.record.stamp import utc_now
from ablatable.record.store import RECORD_FILE, Store

LOCK_FILE = ".import.lock"


@dataclass(frozen=True)
class Adopted:
    """What came of an import.

    ``left`` says of each run that was not taken why, ``unmapped`` the numbers of the source that no record has.
    """

    records: tuple[str, ...] = ()
    foreign: tuple[ForeignRecord, ...] = ()
    left: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()


@dataclass
class _Found:
    genuine: list[ours.Genuine] = field(default_factory=list[ours.Genuine])
    foreign: list[ForeignRecord] = field(default_factory=list[ForeignRecord])
    unmapped: set[str] = field(default_factory=set[str])
    left: list[str] = field(default_factory=list[str])


def adopt(source: Path, root: Path, mapped: Mapped, unfinished: bool = False) -> Adopted:
    """Take the runs of a source into the runs folder, all or none.

    Args:
        source: a file or folder.
        root: the runs folder.
        mapped: study, rows, seeds, and what the source's names mean; for runs of other tools alone.
        unfinished: take a run of which the end is missing, as far as it can be read.

    Raises:
        InputError: nothing that can be read, damaged files, a run without a row, no metric that is known, a label that
            is taken by something else.
        RunFailed: the disk is full.
    """
    place = places.look(source)
    now = utc_now()
    found = _ours(place, source, mapped) if isinstance(place, places.Ours) else _others(place, mapped, unfinished, now)
    store = Store(root)
    with waited_for(root / LOCK_FILE):
        return _kept(store, found, source, now)


def _ours(place: places.Ours, source: Path, mapped: Mapped) -> _Found:
    if mapped != Mapped():
        raise InputError(
            f"{display(source)} holds records of ours, which say themselves what they are; leave out --study, --row, "
            "--seed, --map, --metric, --setting and --update"
        )
    genuine, foreign = ours.read(place)
    return _Found(genuine, foreign)


def _others(place: places.Foreign, mapped: Mapped, unfinished: bool, now: str) -> _Found:
    found = _Found()
    pending: list[FoundRun] = []
    for run in _read(place, mapped, found):
        record = _record_beside(run)
        if record is None:
            pending.append(run)
        else:
            found.genuine += ours.read(places.Ours((record,), ()))[0]
    converted: list[Converted] = []
    for run, where in _placed(pending, mapped, found):
        if run.fault is not None and not unfinished:
            raise InputError(
                f"run {run.said} is not whole: {run.fault}; --unfinished takes what is there, and tables say so"
            )
        converted.append(convert(run, mapped, _labels(run, mapped, where), now))
    _refuse_doubles([one.record for one in converted])
    found.foreign = [one.record for one in converted]
    found.unmapped = {name for one in converted for name in one.left}
    return found


def _read(place: places.Foreign, mapped: Mapped, found: _Found) -> Iterator[FoundRun]:
    """The runs of a source. Where a file says which are wanted, one that can't be read is left with its reason."""
    for read in place:
        try:
            run = read()
        except InputError as error:
            if not mapped.runs:
                raise
            found.left.append(str(error))
        else:
            yield run


def _record_beside(run: FoundRun) -> Path | None:
    """The record of a run of ours that W&B mirrors: ``runs/<id>/wandb/offline-run-.../*.wandb``."""
    id, parents = run.config.get("run.id"), run.source.resolve().parents
    if run.tool != "wandb" or id is None or len(parents) < 3:
        return None
    record = parents[2] / RECORD_FILE
    return record if parents[2].name == id and record.is_file() else None


def _placed(runs: Sequence[FoundRun], mapped: Mapped, found: _Found) -> list[tuple[FoundRun, Place]]:
    """Each run with its place, as the mapping file or, of a single run, the command line says."""
    if not runs:
        return []
    if not mapped.runs:
        if len(runs) > 1:
            listed = ", ".join(run.said for run in runs)
            raise InputError(
                f"the source holds {len(runs)} runs ({listed}); name one of them by its path, or say the row and "
                "seed of each under 'runs' in a file for --map"
            )
        return [(runs[0], mapped.place)]
    if mapped.place != Place():
        raise InputError(
            "--row and --seed are for a single run, and the file of --map says those of each; leave them out"
        )
    names = Counter(run.name for run in runs)
    by_name = {run.name: run for run in runs if names[run.name] == 1} | {run.id: run for run in runs}
    for name in mapped.runs:
        if name not in by_name and names[name] > 1:
            ids = ", ".join(run.id for run in runs if run.name == name)
            raise InputError(f"--map: several runs are called '{name}'; name them by id ({ids})")
        if name not in by_name:
            raise InputError(
                f"--map: no run is called '{name}'{nearest(name, by_name)} (there are {', '.join(by_name)})"
            )
    taken = [(by_name[name], place) for name, place in mapped.runs.items()]
    found.left += [
        f"{run.said}: not named by the file of --map" for run in runs if run not in [one for one, _ in taken]
    ]
    return taken


def _labels(run: FoundRun, mapped: Mapped, place: Place) -> tuple[str, str, int]:
    """Study, row and seed; the seed also from a setting of that name."""
    if mapped.study is None or place.row is None:
        raise InputError(
            f"run {run.said} of {display(run.source)} needs a place in a table: --study NAME --row NAME (or a file for "
            "--map that says it)"
        )
    told = run.config.get("seed")
    seed = place.seed if place.seed is not None else told
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise InputError(
            f"run {run.said} does not tell its seed; say it with --seed N (or 'seed' in the file of --map)"
        )
    return mapped.study, place.row, seed


def _refuse_doubles(records: Sequence[ForeignRecord]) -> None:
    seen: dict[str, ForeignRecord] = {}
    for record in records:
        if record.id in seen:
            raise InputError(
                f"runs {seen[record.id].origin.run} and {record.origin.run} would both be {said(record)}; give them "
                "different seeds or rows"
            )
        seen[record.id] = record


def said(record: ForeignRecord) -> str:
    """``mylab/base, seed 1``."""
    return f"{record.labels.study}/{record.labels.row}, seed {record.seed}"


def _kept(store: Store, found: _Found, source: Path, now: str) -> Adopted:
    foreign: list[ForeignRecord] = []
    genuine: list[ours.Genuine] = []
    left = list(found.left)
    for record in found.foreign:
        why = _why_left(store.root, record)
        if why is None:
            foreign.append(record)
        else:
            left.append(f"{record.origin.run}: {why}")
    for one in found.genuine:
        why = ours.why_left(store, one.record)
        if why is None:
            genuine.append(one)
        else:
            left.append(f"{one.record.id}: {why}")
    _write(store, genuine, foreign, source, now)
    ids = tuple(one.record.id for one in genuine)
    return Adopted(ids, tuple(foreign), tuple(left), tuple(sorted(found.unmapped)))


def _why_left(root: Path, record: ForeignRecord) -> str | None:
    """Why nothing is to be done for a run; refused where its label stands for something else.

    Raises:
        InputError: another import has this label, or this run another label in the study.
    """
    here = read_foreign(root, record.id)
    if here is not None and same_import(here, record):
        return f"imported already as {said(here)}"
    if here is not None:
        raise InputError(
            f"{said(record)} was imported already, {_difference(here, record)}; move "
            f"{display(root / record.id)} away to import it anew, or choose another row or seed"
        )
    for other in foreign_records(root):
        if other.labels.study == record.labels.study and other.origin.digest == record.origin.digest:
            raise InputError(
                f"run {record.origin.run} is imported already as {said(other)}, and one run can't be two of a table; "
                f"move {display(root / other.id)} away first"
            )
    return None


def _same_source(one: ForeignRecord, other: ForeignRecord) -> bool:
    return (one.origin.tool, one.origin.source, one.origin.run) == (
        other.origin.tool,
        other.origin.source,
        other.origin.run,
    )


def _difference(here: ForeignRecord, record: ForeignRecord) -> str:
    """How what is here differs from what is to be imported in its place."""
    if not _same_source(here, record):
        return f"from {here.origin.said}"
    if here.origin.digest != record.origin.digest:
        return f"on {here.origin.imported}, and its source has changed since"
    return f"on {here.origin.imported}, with other metrics or settings mapped"


def _write(
    store: Store, genuine: Sequence[ours.Genuine], foreign: Sequence[ForeignRecord], source: Path, now: str
) -> None:
    """All of it or, where that fails, nothing."""
    begun: list[str] = []
    try:
        for record in foreign:
            begun.append(record.id)
            write_foreign(store.root, record)
        for one in genuine:
            begun.append(one.record.id)
            ours.keep(store, one, source, now)
    except BaseException:
        for id in begun:
            ours.drop(store, id)
        raise
