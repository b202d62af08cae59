"""`records.jsonl`: the records behind a published table, one JSON object per line, ordered by id."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ablatable.config.locate import display
from ablatable.errors import InputError
from ablatable.record.files import write_atomic
from ablatable.record.schema import RECORD, Record
from ablatable.record.store import decode_record

RECORDS_FILE = "records.jsonl"


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
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{display(path)}: cannot be read ({error.strerror})") from error
    found: dict[str, Record] = {}
    remedy = "restore the file from git, or publish the study again"
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{display(path)}:{number}"
        record = decode_record(line, where, remedy)
        if record.id in found:
            raise InputError(f"{where}: run {record.id} is there twice; {remedy}")
        found[record.id] = record
    return found


def _line(record: Record) -> str:
    content = RECORD.dump_python(record, mode="json")
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
