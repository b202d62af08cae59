"""Runs of other programs: their numbers, and where they are from. Never a `Record`, so that none is taken for ours.

A foreign run is ``runs/imported-<12 hex>/imported.json``. Its id names the label it was given (study, row, seed), not
what it means: nobody has checked its settings. A run of ours that another machine trained is an ordinary record, and
``origin.json`` beside it says where it came from.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ablatable.errors import InputError
from ablatable.record.files import write_atomic
from ablatable.record.schema import CurvePoint, Labels, Metric, Record

FOREIGN_FILE = "imported.json"
ORIGIN_FILE = "origin.json"
FOREIGN_PREFIX = "imported-"

Tool = Literal["ablatable", "wandb", "lightning-csv", "tensorboard"]

TOOLS: dict[Tool, str] = {
    "ablatable": "Ablatable",
    "wandb": "W&B",
    "lightning-csv": "Lightning's CSVLogger",
    "tensorboard": "TensorBoard",
}
"""What a person calls them."""

_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=_STRICT)
class Origin:
    """Where an imported run came from.

    ``source`` is the name of the file or folder without its path on that machine, ``run`` what the source calls the
    run, ``version`` the tool's where it is told, ``digest`` 16 hex of a hash of the files read, ``imported`` UTC.
    """

    tool: Tool
    source: str
    run: str
    version: str | None
    digest: str
    imported: str

    @property
    def said(self) -> str:
        """``W&B 0.31.0 (runA)``; of a run of ours the file or folder it came in."""
        if self.tool == "ablatable":
            return self.source
        version = f" {self.version}" if self.version is not None else ""
        return f"{TOOLS[self.tool]}{version} ({self.run})"


@dataclass(frozen=True, config=_STRICT)
class ForeignRecord:
    """One run of another program.

    ``config`` holds those of our settings that were told, nested by section, and no defaults; ``told`` is what the
    source itself says, flat. ``metrics`` have our names and units. Updates of the curve are steps as the source counts
    them. ``cause`` says why an interrupted one is not whole.
    """

    id: str
    labels: Labels
    seed: int
    origin: Origin
    config: dict[str, Any]
    told: dict[str, Any]
    status: Literal["completed", "interrupted"]
    cause: str | None
    metrics: dict[str, Metric]
    curve: list[CurvePoint]
    updates: int | None
    schema_version: Literal[1] = 1

    def metric(self, name: str) -> float | None:
        """The value of a metric, or None when the run has not got it."""
        found = self.metrics.get(name)
        return None if found is None else found.value


AnyRecord = Record | ForeignRecord

_FOREIGN = TypeAdapter(ForeignRecord)
_ORIGIN = TypeAdapter(Origin)


def foreign_id(study: str, row: str, seed: int) -> str:
    """The id of what is imported under this label; no hash of a configuration looks like it."""
    return FOREIGN_PREFIX + hashlib.sha256(f"{study}\0{row}\0{seed}".encode()).hexdigest()[:12]


def is_foreign(id: str) -> bool:
    """Whether it is the id of a foreign run."""
    return id.startswith(FOREIGN_PREFIX)


def same_import(one: ForeignRecord, other: ForeignRecord) -> bool:
    """Whether two are equal but for the time they were imported."""
    return replace(one, origin=replace(one.origin, imported="")) == replace(
        other, origin=replace(other.origin, imported="")
    )


def write_foreign(root: Path, record: ForeignRecord) -> Path:
    """Write a foreign run into the runs folder at once. Raises RunFailed when the disk is full."""
    path = root / record.id / FOREIGN_FILE
    write_atomic(path, json.dumps(_plain(record), indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return path


def encode_foreign(record: ForeignRecord) -> str:
    """The record as one line of JSON."""
    return json.dumps(_plain(record), sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def _plain(record: ForeignRecord) -> Any:
    return _FOREIGN.dump_python(record, mode="json")


def decode_foreign(text: bytes, where: str, remedy: str) -> ForeignRecord:
    """Read a foreign run. Raises InputError naming the place, the fault and the remedy."""
    try:
        return _FOREIGN.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where} is not a readable imported run ({place}: {first['msg']}): {remedy}") from error


def read_foreign(root: Path, id: str) -> ForeignRecord | None:
    """The foreign run of that id, None where there is none. Raises InputError when its file is damaged."""
    path = root / id / FOREIGN_FILE
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return decode_foreign(text, str(path), f"move {root / id} away or delete it, and import it again")


def foreign_records(root: Path) -> list[ForeignRecord]:
    """Every foreign run of a runs folder, by id. Raises InputError for the first damaged one."""
    found = (read_foreign(root, path.parent.name) for path in sorted(root.glob(f"{FOREIGN_PREFIX}*/{FOREIGN_FILE}")))
    return [record for record in found if record is not None]


def write_origin(folder: Path, origin: Origin) -> None:
    """Note beside a run of ours where it came from. Raises RunFailed when the disk is full."""
    content: dict[str, Any] = _ORIGIN.dump_python(origin, mode="json")
    write_atomic(folder / ORIGIN_FILE, json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def origin_of(folder: Path) -> Origin | None:
    """Where the run of ours in this folder came from, None where it was trained here. Raises InputError if damaged."""
    path = folder / ORIGIN_FILE
    try:
        return _ORIGIN.validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise InputError(f"{path} is damaged; delete it, or move {folder} away and import the run again") from error


def refuse_without_weights(folder: Path) -> None:
    """Refuse what needs the weights of a run that was imported: they did not come with it.

    Raises:
        InputError: a foreign run, or one that another machine trained and that has no checkpoints here.
    """
    if (folder / FOREIGN_FILE).is_file():
        record = read_foreign(folder.parent, folder.name)
        said = record.origin.said if record is not None else "elsewhere"
        raise InputError(
            f"run {folder.name} was imported from {said}: only its numbers are here, no weights; name a run of ours"
        )
    origin = origin_of(folder)
    if origin is not None and not any((folder / "checkpoints").glob("*")):
        raise InputError(
            f"run {folder.name} was trained elsewhere and imported from {origin.source} without its weights; use it on "
            f"the machine that trained it, or move {folder} away and train it here"
        )
