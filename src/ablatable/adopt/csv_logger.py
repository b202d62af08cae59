"""What Lightning's CSVLogger leaves: ``metrics.csv``, and the settings in ``hparams.yaml``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from ablatable.adopt.found import FoundRun, Line, digest_of, flat, last_of
from ablatable.config.locate import display
from ablatable.config.yaml_file import read as read_yaml
from ablatable.errors import InputError

METRICS_FILE = "metrics.csv"
HPARAMS_FILE = "hparams.yaml"


def read(folder: Path, name: str) -> FoundRun:
    """Read one run, a version's folder.

    Raises:
        InputError: no rows, rows of different lengths (cut off), or settings that are not YAML.
    """
    path, settings = folder / METRICS_FILE, folder / HPARAMS_FILE
    lines = _lines(path)
    there = [settings] if settings.is_file() else []
    return FoundRun(
        id=name,
        name=name,
        tool="lightning-csv",
        version=None,
        source=folder,
        digest=digest_of([path, *there]),
        config=flat(read_yaml(settings).data) if there else {},
        final=last_of(lines),
        lines=tuple(lines),
    )


def _lines(path: Path) -> list[Line]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{display(path)}: not UTF-8 at byte {error.start}; it is no metrics.csv of a logger"
        ) from error
    rows = list(csv.reader(text.splitlines()))
    if len(rows) < 2:
        raise InputError(f"{display(path)} holds no measurement; leave this run out")
    head = rows[0]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(head):
            raise InputError(
                f"{display(path)}:{number}: {len(row)} values under {len(head)} names (cut off, or logged by two runs "
                "at once); mend or delete that line"
            )
    return [_line(dict(zip(head, row, strict=True)), i) for i, row in enumerate(rows[1:])]


def _line(row: Mapping[str, str], index: int) -> Line:
    values: dict[str, float] = {name: number for name, text in row.items() if (number := _number(text)) is not None}
    return Line(int(values.pop("step", index)), None, values)


def _number(text: str) -> float | None:
    """A cell that is empty or holds words is no measurement."""
    try:
        return float(text)
    except ValueError:
        return None
