"""`records.jsonl`: the records behind a published table, one JSON object per line, ordered by id.

What was imported stands in a file of its own, `imported.jsonl`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record.files import write_atomic
from ablatable.record.foreign import ForeignRecord, decode_foreign, encode_foreign
from ablatable.record.schema import RECORD, Record
from ablatable.record.store import decode_record

RECORDS_FILE = "records.jsonl"
IMPORTED_FILE = "imported.jsonl"

_REMEDY = "restore the file from git, or publish the study again"


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write the records at once; the same records give the same bytes, whatever their order.

    Raises:
        RunFailed: the disk is full (the old file stays).
    """
    lines = [_line(record) for record in sorted(records, key=lambda record: record.id)]
    write_atomic(path, "".join(lines))


def read_records(path: Path) -> dict[str, Record]:
    """The records of a file by id.

    Raises:
        InputError: unreadable, a damaged line, or one id twice; names the line.
    """
    found: dict[str, Record] = {}
    for where, line in _lines(path):
        record = decode_record(line, where, _REMEDY)
        if record.id in found:
            raise InputError(f"{where}: run {record.id} is there twice; {_REMEDY}")
        found[record.id] = record
    return found


def write_imported(path: Path, records: Iterable[ForeignRecord]) -> None:
    """Write the imported runs behind a table at once, ordered by id; where there are none the file goes."""
    ordered = sorted(records, key=lambda record: record.id)
    if ordered:
        write_atomic(path, "".join(encode_foreign(record) for record in ordered))
    else:
        path.unlink(missing_ok=True)


def read_imported(path: Path) -> dict[str, ForeignRecord]:
    """The imported runs of a file by id; none where there is no file. Raises InputError for a damaged line."""
    if not path.is_file():
        return {}
    found = [decode_foreign(line, where, _REMEDY) for where, line in _lines(path)]
    return {record.id: record for record in found}


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every line that says something, with its place."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{display(path)}: cannot be read ({error.strerror})") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield f"{display(path)}:{number}", line


def _line(record: Record) -> str:
    content = RECORD.dump_python(record, mode="json")
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
