"""A study's table by name: gathers the records, builds, writes, checks."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Literal

from ablatable.config.locate import display
from ablatable.record.files import write_atomic
from ablatable.report.check import check
from ablatable.report.model import Table
from ablatable.report.render import files
from ablatable.report.table import build_table
from ablatable.study.gather import Gathered, from_results, from_runs, published_folder
from ablatable.study.load import load_study
from ablatable.study.records_file import RECORDS_FILE
from ablatable.study.resolve import scale_of

Source = Literal["auto", "runs", "results"]


def table_of(study: str, scale: str | None, seeds: int | None, source: Source = "auto") -> Table:
    """The table of a study from the records there are.

    ``auto`` takes ``runs/`` where it holds any record of the study at this scale, else what is published.

    Raises InputError for an unknown study or scale, a corrupted record, ``results`` never published.
    """
    with uncollected():
        return build(_gather(study, scale, seeds, source))


def build(gathered: Gathered) -> Table:
    """The table of what was gathered."""
    return build_table(
        gathered.study,
        gathered.rows,
        gathered.records.values(),
        gathered.scale,
        searches=gathered.searches,
        imported=gathered.imported,
    )


def check_published(study: str, scale: str | None) -> list[str]:
    """Make a published table again from its published records; returns the files that are equal, all four.

    Raises InputError where nothing is published and RunFailed that names the files that differ.
    """
    gathered = from_results(study, scale)
    folder = published_folder(gathered.study, gathered.scale)
    made = files(build(gathered))
    check(folder, made)
    return [display(folder / name) for name in made]


def write(folder: Path, contents: Mapping[str, str]) -> list[Path]:
    """Write files into a folder, each at once."""
    for name, content in contents.items():
        write_atomic(folder / name, content)
    return [folder / name for name in contents]


@contextlib.contextmanager
def uncollected() -> Generator[None, None, None]:
    """No garbage collection meanwhile: a thousand records are a hundred thousand objects, all alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _gather(study: str, scale: str | None, seeds: int | None, source: Source) -> Gathered:
    if source == "results":
        return from_results(study, scale, seeds)
    gathered = from_runs(study, scale, seeds)
    if gathered.records or source == "runs" or not _is_published(study, scale):
        return gathered
    return from_results(study, scale, seeds)


def _is_published(study: str, scale: str | None) -> bool:
    loaded = load_study(study)
    return (published_folder(loaded, scale_of(loaded, scale).name) / RECORDS_FILE).is_file()
