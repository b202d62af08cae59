"""What a source is: runs of ours, a W&B folder, a CSVLogger's folder or TensorBoard files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablatable.adopt import csv_logger, event_files, wandb_file
from ablatable.adopt.found import FoundRun
from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record.foreign import FOREIGN_FILE
from ablatable.record.store import RECORD_FILE
from ablatable.study.records_file import IMPORTED_FILE, RECORDS_FILE


@dataclass(frozen=True)
class Ours:
    """Files with runs of ours: records, several or one each, and runs that were imported there."""

    records: tuple[Path, ...]
    foreign: tuple[Path, ...]


Foreign = Sequence[Callable[[], FoundRun]]
"""How to read each run of a source of another tool."""


def look(source: Path) -> Ours | Foreign:
    """Say what a source is.

    Raises:
        InputError: there is none, it is none of the kinds that are read, or it holds two kinds.
    """
    if not source.exists():
        raise InputError(f"{display(source)}: no such file or folder; name what the runs were logged into")
    kinds = _of_file(source) if source.is_file() else _of_folder(source)
    if not kinds:
        raise InputError(
            f"{display(source)} holds no runs: neither records of ours (records.jsonl, a runs folder) nor *.wandb "
            "files, a CSVLogger's metrics.csv or TensorBoard's events.out.tfevents.*; name the folder that does"
        )
    if len(kinds) > 1:
        raise InputError(f"{display(source)} holds {' and '.join(kinds)}; name the folder or file of one of them")
    return next(iter(kinds.values()))


def _of_file(path: Path) -> dict[str, Ours | Foreign]:
    if path.name == IMPORTED_FILE:
        return {"imported runs": Ours((), (path,))}
    if path.suffix == ".jsonl" or path.name == RECORD_FILE:
        return {"records of ours": Ours((path,), ())}
    if path.suffix == ".wandb":
        return {"W&B files": [lambda: wandb_file.read(path)]}
    if path.name == csv_logger.METRICS_FILE or path.match(event_files.EVENT_FILES):
        return _of_folder(path.parent)
    return {}


def _of_folder(folder: Path) -> dict[str, Ours | Foreign]:
    records = _first(folder, (*_results(RECORDS_FILE), RECORD_FILE, f"*/{RECORD_FILE}"))
    imported = _first(folder, (*_results(IMPORTED_FILE), FOREIGN_FILE, f"*/{FOREIGN_FILE}"))
    if records or imported:  # whatever trackers left beside them
        return {"records of ours": Ours(tuple(records), tuple(imported))}
    kinds: dict[str, Ours | Foreign] = {
        "W&B files": [lambda path=path: wandb_file.read(path) for path in _wandb_files(folder)],
        "a CSVLogger's files": [
            lambda one=one: csv_logger.read(one, _named(one, folder)) for one in _below(folder, csv_logger.METRICS_FILE)
        ],
        "TensorBoard files": [
            lambda one=one: event_files.read(one, _named(one, folder))
            for one in _below(folder, event_files.EVENT_FILES)
        ],
    }
    return {kind: found for kind, found in kinds.items() if found}


def _results(name: str) -> tuple[str, str, str]:
    """Where such a file is looked for: a table's folder at one scale, a table's, that of all tables."""
    return name, f"*/{name}", f"*/*/{name}"


def _first(folder: Path, patterns: Sequence[str]) -> list[Path]:
    found = (sorted(folder.glob(pattern)) for pattern in patterns)
    return next((paths for paths in found if paths), list[Path]())


def _wandb_files(folder: Path) -> list[Path]:
    """A run's folder, W&B's folder, or what W&B's folder lies in; ``latest-run`` only points to one of the others."""
    within = ("*.wandb", "*run-*/*.wandb", "wandb/*run-*/*.wandb")
    found = _first(folder, within)
    return [path for path in found if path.parent == folder or not path.parent.is_symlink()]


def _below(folder: Path, pattern: str) -> list[Path]:
    """Folders with such files: this one alone, or else those below it."""
    if any(folder.glob(pattern)):
        return [folder]
    return sorted({path.parent for path in folder.rglob(pattern)})


def _named(folder: Path, source: Path) -> str:
    """By its place below the source; the source itself as ``exp/version_0``: a version's number alone says little."""
    if folder != source:
        return folder.relative_to(source).as_posix()
    resolved = folder.resolve()
    return f"{resolved.parent.name}/{resolved.name}" if resolved.name.startswith("version_") else resolved.name
