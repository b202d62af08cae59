"""Publishing a table: the records behind it and its written forms, into `results/<study>/<scale>/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ablatable.config.locate import display
from ablatable.errors import RunFailed
from ablatable.record.files import write_atomic
from ablatable.record.schema import Record
from ablatable.report.make import build
from ablatable.report.render import files
from ablatable.study.gather import Gathered, from_runs, published, published_folder
from ablatable.study.records_file import IMPORTED_FILE, RECORDS_FILE, write_imported, write_records
from ablatable.study.tuning.schema import TRIALS_FILE


@dataclass(frozen=True)
class Published:
    """What was written where, and what a reader of the table must know about it."""

    folder: Path
    files: tuple[Path, ...]
    records: int
    expected: int
    remarks: tuple[str, ...]


def publish(study: str, scale: str | None) -> Published:
    """Copy a table's records into `results/` and write the table from them in every format.

    Every seed of which there is a record counts. What was imported goes into a file of its own.
    Records published before that still belong to the table and are missing here (trained on another machine) stay;
    those of rows the study no longer has go. Both are told in the remarks, and so are holes.

    Raises:
        InputError: an unknown study or scale, a corrupted record.
        RunFailed: there is no record to publish, what is published was made from another release of the corpus, or
            the disk is full.
    """
    earlier = published(study, scale)
    before = earlier.records
    gathered = from_runs(study, scale, published=earlier)
    imported = [record for records in gathered.imported.values() for record in records]
    if not gathered.records:
        raise RunFailed(
            f"{gathered.study.name} at scale {gathered.scale} has no finished run to publish; "
            f"`ablatable run {gathered.study.name} --scale {gathered.scale}` makes some"
        )
    folder = published_folder(gathered.study, gathered.scale)
    _refuse_another_text(folder, gathered, before)
    written = files(build(gathered))
    write_records(folder / RECORDS_FILE, gathered.records.values())
    write_imported(folder / IMPORTED_FILE, imported)
    trials = [trial for searched in gathered.searches.values() for trial in searched.trials if trial.ended]
    (folder / TRIALS_FILE).unlink(missing_ok=True)
    if trials:
        from ablatable.study.tuning.trials import write_published

        write_published(folder / TRIALS_FILE, trials, gathered.trial_records)
    beside = [*([IMPORTED_FILE] if imported else []), *([TRIALS_FILE] if trials else [])]
    for name, content in written.items():
        write_atomic(folder / name, content)
    return Published(
        folder=folder,
        files=tuple(folder / name for name in (RECORDS_FILE, *beside, *written)),
        records=len(gathered.records),
        expected=sum(len(row.ids) for row in gathered.rows),
        remarks=tuple(_remarks(gathered, before)),
    )


def _refuse_another_text(folder: Path, gathered: Gathered, before: Mapping[str, Record]) -> None:
    """Records of another release of a corpus are of this table too, and replacing them unasked would lose them."""
    here = {record.stamp.corpus: record.stamp.corpus_fingerprint for record in gathered.records.values()}
    for id, record in before.items():
        stamp = record.stamp
        if id not in gathered.records and here.get(stamp.corpus, stamp.corpus_fingerprint) != stamp.corpus_fingerprint:
            raise RunFailed(
                f"{display(folder)} holds runs on another release of {stamp.corpus} ({stamp.corpus_fingerprint}) than "
                f"the runs here ({here[stamp.corpus]}), and one table cannot show both; move the folder away to "
                "publish these"
            )


def _remarks(gathered: Gathered, before: Mapping[str, Record]) -> list[str]:
    said: list[str] = []
    for row in gathered.rows:
        for seed, id in zip(row.seeds, row.ids, strict=True):
            record = gathered.records.get(id)
            if record is None:
                said.append(f"hole: {row.row.name}, seed {seed}: {row.awaits or 'not run yet'}")
            elif record.status != "completed":
                said.append(f"hole: {row.row.name}, seed {seed}: {record.status}: {record.cause}")
    said += [f"hole: {name}: nothing imported for it" for name, runs in gathered.imported.items() if not runs]
    said += [f"hole: {row.name}: {row.absence(gathered.scale)}" for row in gathered.study.absent(gathered.scale)]
    kept = sorted(id for id, record in before.items() if gathered.records.get(id) is record)
    if kept:
        said.append(f"kept as published before, not in the runs folder here: {', '.join(kept)}")
    dropped = sorted(id for id in before if id not in gathered.records)
    if dropped:
        said.append(f"dropped, no longer in the table: {', '.join(dropped)}")
    return said


def to_text(published: Published) -> str:
    """What a person is told after publishing."""
    lines = [f"published {published.records} of {published.expected} runs in {display(published.folder)}/"]
    lines += [f"  {file.name}" for file in published.files]
    return "\n".join([*lines, *published.remarks])
