"""The trials of a row's search as plain lines, read without Optuna: `trials.jsonl`, beside the journal or published.

The journal is what a search goes on from. Its runner writes these lines anew whenever a trial begins or ends; tables,
plans and status read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ablatable.config.locate import display, runs_folder
from ablatable.errors import InputError
from ablatable.record.files import write_atomic
from ablatable.record.schema import RECORD, Finite, Record
from ablatable.record.store import decode_record
from ablatable.study.sweep.trials import State
from ablatable.study.tuning.schema import TRIALS_FILE
from ablatable.study.values import Setting

_REMEDY = {
    "runs": "delete it; `ablatable run` writes it anew",
    "results": "restore the file from git, or publish the study again",
}


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Trial:
    """One trial: its state is one of `study.sweep.trials.STATES`, `value` its objective where it is completed.

    `device_seconds` and `flops` are of its runs, wherever they were made first.
    """

    search: str
    row: str
    number: int
    state: State
    point: dict[str, Setting]
    value: Finite | None
    cause: str | None
    runs: list[str]
    device_seconds: float
    flops: float
    version: Literal[1] = 1

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in ("running", "waiting")


_TRIAL = TypeAdapter(Trial)


def kept_at(search: str) -> Path:
    """Where the lines of a search are kept while it runs, and after."""
    return runs_folder() / "sweeps" / search / TRIALS_FILE


def keep(search: str, trials: Iterable[Trial]) -> None:
    """Write the lines of a search at once.

    Raises:
        RunFailed: the disk is full.
    """
    write_atomic(kept_at(search), "".join(_text(trial) for trial in trials))


def kept(search: str) -> tuple[Trial, ...]:
    """The trials of a search so far, none where it was never begun.

    Raises:
        InputError: a damaged file.
    """
    path = kept_at(search)
    if not path.is_file():
        return ()
    return tuple(_trial(line, where, "runs") for where, line in _lines(path))


def write_published(path: Path, trials: Iterable[Trial], records: Mapping[str, Record]) -> None:
    """Write trials with the records of their runs, so that whoever has the file can check them.

    Raises:
        RunFailed: the disk is full.
    """
    ordered = sorted(trials, key=lambda trial: (trial.search, trial.number))
    write_atomic(
        path,
        "".join(_text(trial, [records[id] for id in trial.runs if id in records]) for trial in ordered),
    )


def read_published(path: Path) -> tuple[dict[str, list[Trial]], dict[str, Record]]:
    """Published trials by search, and the records of their runs by id.

    Raises:
        InputError: a damaged file.
    """
    found: dict[str, list[Trial]] = {}
    records: dict[str, Record] = {}
    for where, line in _lines(path):
        own = [decode_record(json.dumps(one).encode(), where, _REMEDY["results"]) for one in line.pop("records", [])]
        trial = _trial(line, where, "results")
        records |= {record.id: record for record in own}
        found.setdefault(trial.search, []).append(trial)
    return found, records


def _text(trial: Trial, records: Iterable[Record] | None = None) -> str:
    content: dict[str, Any] = _TRIAL.dump_python(trial, mode="json")
    if records is not None:
        content["records"] = [RECORD.dump_python(record, mode="json") for record in records]
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _lines(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{display(path)}: cannot be read ({error.strerror})") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{display(path)}:{number}"
        try:
            found: object = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not JSON; restore the file, or delete it and run the study again") from error
        if not isinstance(found, dict):
            raise InputError(f"{where}: no trial; restore the file, or delete it and run the study again")
        yield where, cast(dict[str, Any], found)


def _trial(content: dict[str, Any], where: str, source: Literal["runs", "results"]) -> Trial:
    try:
        return _TRIAL.validate_json(json.dumps(content))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: no trial of a search ({place}: {first['msg']}); {_REMEDY[source]}") from error
