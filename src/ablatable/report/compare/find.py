"""From what a person names (ids, their beginnings, folders, ``study/row``) to finished runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ablatable.config.locate import display, known
from ablatable.errors import InputError, nearest
from ablatable.record.events import read_events
from ablatable.record.foreign import ForeignRecord, foreign_records, is_foreign
from ablatable.record.lookup import only_id
from ablatable.record.schema import Record
from ablatable.record.store import EVENTS_FILE, RECORD_FILE, Store
from ablatable.report.compare.side import LETTERS, Run, Side, row, single
from ablatable.report.listing.entry import CONFIG_FILE
from ablatable.report.names import row_name
from ablatable.study.gather import Gathered, from_results, from_runs
from ablatable.study.load import load_study
from ablatable.study.records_file import IMPORTED_FILE, RECORDS_FILE, read_imported, read_records

Source = Literal["runs", "results"]

_LISTED = 10


@dataclass(frozen=True)
class Place:
    """Where runs are looked for; ``scale`` is asked of rows, None where it was not said."""

    source: Source
    runs: Path
    results: Path
    scale: str | None


def find_sides(words: Sequence[str], place: Place) -> list[Side]:
    """The sides named, in that order.

    Raises:
        InputError: fewer than two or too many, an unknown or unfinished run, a beginning that several ids share, an
            unknown row, a damaged record.
    """
    if len(words) < 2:
        raise InputError("compare takes two runs at least; `ablatable runs` lists them")
    if len(words) > len(LETTERS):
        raise InputError(f"compare takes {len(LETTERS)} runs at most, and {len(words)} are named")
    finder = _Finder(place)
    return [replace(finder.find(word), letter=letter) for word, letter in zip(words, LETTERS, strict=False)]


class _Finder:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._store = Store(place.runs)
        published = place.source == "results"
        self._published: Mapping[str, Record] = _published(place.results) if published else {}
        self._foreign = (
            _published_imports(place.results) if published else {r.id: r for r in foreign_records(place.runs)}
        )

    def find(self, word: str) -> Side:
        """One side, its letter still to be given."""
        folder = Path(word)
        if self._place.source == "runs" and any((folder / name).exists() for name in (RECORD_FILE, CONFIG_FILE)):
            resolved = folder.resolve()
            return single("", self._finished(Store(resolved.parent), resolved.name, display(folder)))
        if "/" in word:
            return self._row(word)
        return self._by_id(word)

    def _by_id(self, beginning: str) -> Side:
        ids = [*self._published, *self._foreign] if self._place.source == "results" else self._store.ids()
        where = display(self._place.results if self._place.source == "results" else self._place.runs)
        ways = "give an id, its beginning, a run's folder or study/row (`ablatable runs` lists them)"
        id = only_id(ids, beginning, where, f"{nearest(beginning, ids)}; {ways}")
        if is_foreign(id):
            return single("", Run(self._foreign[id], None))
        if self._place.source == "results":
            return single("", Run(self._published[id], None))
        return single("", self._finished(self._store, id, id))

    def _finished(self, store: Store, id: str, said: str) -> Run:
        record = store.read(id)
        standing = store.status(id)
        if standing.state == "running":
            raise InputError(f"run {said} is still going{_progress(store.folder(id))}; compare it when it has finished")
        if record is None:
            raise InputError(f"run {said} has no record: {standing.cause}")
        return Run(record, store.folder(id))

    def _row(self, word: str) -> Side:
        study, name, *rest = word.split("/")
        if len(rest) > 1 or not name or not study:
            raise InputError(f"'{word}' is neither a run's folder nor study/row or study/row/seed")
        seed = _seed(word, rest[0]) if rest else None
        if study in known("ablations"):
            return self._of_study(study, name, seed)
        return self._of_label(word, study, name if seed is not None or not name.isdigit() else "")

    def _of_study(self, study: str, name: str, seed: int | None) -> Side:
        rows = [each.name for each in load_study(study).rows]
        if name not in rows:
            raise InputError(f"study '{study}' has no row '{name}'{nearest(name, rows)} (its rows: {', '.join(rows)})")
        if load_study(study).row(name).imported:
            return self._of_import(study, name, seed)
        scale = self._place.scale or self._only_scale(study)
        gathered = self._gather(study, scale)
        runs = next((each for each in gathered.rows if each.row.name == name), None)
        if runs is None:
            raise InputError(f"row '{name}' of {study}: {gathered.study.row(name).absence(gathered.scale)}")
        ids = [id for id, each in zip(runs.ids, runs.seeds, strict=True) if seed in (None, each)]
        missing = f"row '{name}' of {study} at scale {gathered.scale}" + ("" if seed is None else f", seed {seed},")
        for id in ids:
            self._refuse_running(id, missing)
        finished = [gathered.records[id] for id in ids if id in gathered.records]
        if not finished:
            if runs.awaits is not None:
                raise InputError(f"{missing}: {runs.awaits}; `ablatable run {study} --scale {gathered.scale}` goes on")
            raise InputError(
                f"{missing} has no finished run in {display(self._folder)}/; `ablatable run {study} --scale "
                f"{gathered.scale}` trains it, or say another --scale"
            )
        tuned = () if runs.tuned is None else tuple(runs.tuned.settings)
        return self._side(f"{study}/{name}", finished, len(ids), tuned)

    def _of_import(self, study: str, name: str, seed: int | None) -> Side:
        found = [
            record
            for record in self._foreign.values()
            if (record.labels.study, record.labels.row) == (study, name) and seed in (None, record.seed)
        ]
        if not found:
            raise InputError(
                f"row '{name}' of {study}{'' if seed is None else f', seed {seed},'} has nothing imported; "
                f"`ablatable import SOURCE --study {study} --row {name}` takes it from another tool's logs"
            )
        return row("", f"{study}/{name}", [Run(record, None) for record in found], None)

    def _gather(self, study: str, scale: str | None) -> Gathered:
        gather: Callable[[str, str | None], Gathered] = from_results if self._place.source == "results" else from_runs
        return gather(study, scale)

    def _refuse_running(self, id: str, said: str) -> None:
        if self._place.source == "runs" and self._store.status(id).state == "running":
            raise InputError(
                f"{said} is still going (run {id}{_progress(self._store.folder(id))}); compare it when it has finished"
            )

    @property
    def _folder(self) -> Path:
        return self._place.results if self._place.source == "results" else self._place.runs

    def _records(self) -> list[Record]:
        if self._place.source == "results":
            return list(self._published.values())
        return list(self._store.intact())

    def _only_scale(self, study: str) -> str | None:
        """The scale its runs have been trained at; None where there are no runs."""
        scales = sorted({r.labels.scale for r in self._records() if r.labels.study == study and r.labels.scale})
        if len(scales) > 1:
            raise InputError(f"{study} has runs at scale {' and '.join(scales)}; say which with --scale")
        return scales[0] if scales else None

    def _of_label(self, word: str, study: str, name: str) -> Side:
        """Rows of a study whose file is not here, and runs outside any study, by the name they were trained under."""
        wanted = f"{study}/{name}" if name else study
        seed = int(word.rsplit("/", 1)[1]) if word != wanted else None
        records = [
            record
            for record in self._records()
            if row_name(record.labels) == wanted
            and seed in (None, record.seed)
            and self._place.scale in (None, record.labels.scale)
        ]
        if not records and any(row_name(record.labels) == wanted for record in self._foreign.values()):
            return self._of_import(study, name, seed)
        if not records:
            named = {row_name(record.labels) for record in self._records()}
            raise InputError(
                f"nothing is called '{word}' in {display(self._folder)}/{nearest(wanted, named)} "
                f"(studies: {', '.join(known('ablations'))})"
            )
        seeds = [record.seed for record in records]
        if len(set(seeds)) < len(seeds):
            ids = ", ".join(record.id for record in records)
            raise InputError(f"several runs are called '{word}' ({ids}); name them by id")
        return self._side(wanted, records, len(records))

    def _side(self, name: str, records: list[Record], planned: int, tuned: Sequence[str] = ()) -> Side:
        """The completed ones; where none is, those that failed."""
        completed = [record for record in records if record.status == "completed"]
        failed = [record for record in records if record.status != "completed"]
        remark = None
        if len(completed) < planned:
            causes = "".join(f"; seed {r.seed} {r.status}: {r.cause}" for r in failed)
            remark = f"{len(completed)} of {planned} runs completed{causes}"
        return row("", name, [self._run(record) for record in completed or failed], remark, tuned)

    def _run(self, record: Record) -> Run:
        return Run(record, None if self._place.source == "results" else self._store.folder(record.id))


def _seed(word: str, text: str) -> int:
    if not text.isdigit():
        raise InputError(f"'{word}': '{text}' is no seed; write study/row/1")
    return int(text)


def _progress(folder: Path) -> str:
    """`` (update 1250 of 2000)``, as its events tell."""
    events = [event for event in read_events(folder / EVENTS_FILE) if event["kind"] == "train"]
    return f" (update {events[-1]['update']} of {events[-1]['updates']})" if events else ""


def _published_imports(results: Path) -> dict[str, ForeignRecord]:
    found: dict[str, ForeignRecord] = {}
    for path in sorted(results.glob(f"*/*/{IMPORTED_FILE}")):
        found |= read_imported(path)
    return found


def _published(results: Path) -> Mapping[str, Record]:
    found: dict[str, Record] = {}
    for path in sorted(results.glob(f"*/*/{RECORDS_FILE}")):
        found |= read_records(path)
    return dict(sorted(found.items()))
