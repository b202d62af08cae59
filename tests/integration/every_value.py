"""Every value of every choice, each trained for 50 updates on `synthetic-copy` by the real commands.

Run: ``make every-value``, or ``python tests/integration/every_value.py``. No value is left out and none is shrunk: what
is small is the base they are compared with (``every-value.yaml``) and its text, and a few values get company that makes
them cheap or possible there (``BESIDE``). The study is what `ablatable axes --format study` prints, the values are
those of `ablatable axes --format json`, and that each was trained to a finite loss is read from the records alone.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ablatable.config.load import load_experiment
from ablatable.config.schema import Experiment
from ablatable.config.tree import value_at
from ablatable.record.schema import Record
from ablatable.record.store import Store

UPDATES = 50
TINY = Path(__file__).with_name("every-value.yaml")
MAIN = "from ablatable.cli.main import main; main()"

BESIDE: dict[str, dict[str, Any]] = {
    # Words of one letter have no more pieces than there are letters.
    "tokenizer.kind=wordpiece": {"tokenizer.size": 30},
    # A word vocabulary's size is the most there may be: no text of thirty words has 37,000 pieces of another kind.
    "tokenizer.size": {"tokenizer.kind": "word"},
    # Ends long before the last update. A batch holds 256 tokens a side at most, so 50 updates are made at least.
    "train.updates": {"train.max_target_tokens": UPDATES * 256},
    # The base's interval, 1000, is for 100,000 updates.
    "train.average_last": {"train.average_every": 2},
    # Enough validations for patience to run out, which it must not: the likelihood gets better in each, accuracy later.
    "train.patience": {"train.validate_every": 8},
    "train.patience_metric=accuracy": {"train.patience": 5},
}
"""What a value (or each value of a choice) is set along with, here and nowhere else."""


@dataclass(frozen=True)
class Value:
    """One value of one choice."""

    path: str
    value: Any

    def __str__(self) -> str:
        return f"{self.path}={'null' if self.value is None else json.dumps(self.value).strip(chr(34))}"

    def in_(self, config: Mapping[str, Any]) -> bool:
        """Whether a record's settings, where only what means something stands, have this value."""
        node: Any = config
        for part in self.path.split("."):
            if part not in node:
                return False
            node = node[part]
        return _same(node, self.value)


def _same(a: Any, b: Any) -> bool:
    """Equal, and not one of them a truth value only: 1 is not true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def ablatable(*words: str, folder: Path, failing: bool = False) -> str:
    """What the command prints; what it says meanwhile is shown only where runs may be ``failing``.

    Raises:
        SystemExit: it could not do what it should, or failed where it may not.
    """
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "ABLATABLE_RUNS": str(folder / "runs"),
        "ABLATABLE_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=None if failing else subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in ((0, 1) if failing else (0,)):
        raise SystemExit(f"ablatable {' '.join(words)}: exit {done.returncode}\n{done.stderr or ''}")
    return done.stdout


def values(axes: Iterable[Mapping[str, Any]]) -> list[Value]:
    """Every value of `ablatable axes --format json`: of each choice that names some, these and its default."""
    found: list[Value] = []
    for axis in axes:
        if axis["values"]:
            others = [value for value in axis["values"] if value != axis["default"]]
            found += [Value(axis["path"], value) for value in (axis["default"], *others)]
    return found


def study(printed: Mapping[str, Any], wanted: Iterable[Value]) -> dict[str, Any]:
    """The printed study of the paper's base as one of the tiny base.

    A value of the paper's base that the tiny one has not gets a row; what the tiny base is already loses its own.
    """
    base = load_experiment(str(TINY))
    set_by_rows = [Value(path, value) for row in printed["rows"] for path, value in row.get("set", {}).items()]
    of_the_paper: list[dict[str, Any]] = [
        {"name": str(one), "set": {one.path: one.value}} for one in wanted if one not in set_by_rows
    ]
    rows = [row for row in (*of_the_paper, *printed["rows"]) if _changes(base, row.get("set", {}))]
    return {
        **printed,
        "name": "every-value",
        "title": "Every value, 50 updates each",
        "baseline": str(TINY),
        "rows": [{"name": "tiny"}, *({**row, "set": _with_company(row["set"])} for row in rows)],
    }


def _changes(base: Experiment, settings: Mapping[str, Any]) -> bool:
    return any(not _same(value_at(base, path), value) for path, value in settings.items())


def _with_company(settings: Mapping[str, Any]) -> dict[str, Any]:
    company: dict[str, Any] = {}
    for path, value in settings.items():
        company |= BESIDE.get(path, {}) | BESIDE.get(str(Value(path, value)), {})
    return {**settings, **company}


def faults(wanted: Iterable[Value], runs: Mapping[str, str], records: Mapping[str, Record]) -> Iterator[str]:
    """A sentence for each row that did not train as it should, and for each value that no sound run has.

    Args:
        wanted: the values.
        runs: the id of each row's run.
        records: by id.
    """
    for row, id in runs.items():
        fault = _fault(records[id]) if id in records else "no record"
        if fault:
            yield f"{row}: {fault}"
    sound = [records[id].config for id in runs.values() if id in records and not _fault(records[id])]
    for value in wanted:
        if not any(value.in_(config) for config in sound):
            yield f"{value}: in no sound run"


def _fault(record: Record) -> str:
    """What is wrong with a run; empty where nothing is."""
    if record.status != "completed":
        return f"{record.status}: {record.cause}"
    if record.updates < UPDATES:
        return f"{record.updates} updates, not {UPDATES}"
    losses = [
        record.metric("valid.nll"),
        *(loss for point in record.curve for loss in (point.train_nll, point.valid_nll)),
    ]
    if any(loss is None or not math.isfinite(loss) for loss in losses):
        return f"losses that are not all finite: {losses}"
    return ""


def check(folder: Path, slots: Sequence[str]) -> tuple[str, list[str]]:
    """Run everything that has no record in ``folder`` yet; a summary, and the faults."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    axes = json.loads(ablatable("axes", "--format", "json", folder=folder))
    wanted = values(axes)
    made = study(yaml.safe_load(ablatable("axes", "--format", "study", folder=folder)), wanted)
    path = folder / "every-value.yaml"
    path.write_text(yaml.safe_dump(made, sort_keys=False, allow_unicode=True), encoding="utf-8")
    table = ablatable("run", str(path), "--scale", "paper", *slots, folder=folder, failing=True)
    (folder / "every-value.md").write_text(table, encoding="utf-8")
    status = json.loads(ablatable("status", str(path), "--scale", "paper", "--format", "json", folder=folder))
    runs = {run["row"]: run["id"] for run in status["runs"]}
    records = {record.id: record for record in Store(folder / "runs").records() if record.id in runs.values()}
    found = list(faults(wanted, runs, records))
    return _summary(wanted, records.values(), time.monotonic() - began), found


def _summary(wanted: Sequence[Value], records: Collection[Record], seconds: float) -> str:
    slowest = sorted(records, key=lambda record: -record.wall_seconds)[:5]
    return (
        f"{len(wanted)} values of {len({value.path for value in wanted})} choices in {len(records)} runs of {UPDATES} "
        f"updates: {seconds:.0f} s\n"
        f"slowest: {', '.join(f'{record.labels.row} {record.wall_seconds:.1f} s' for record in slowest)}"
    )


def main() -> None:
    """Print a summary; exit 1 and name every value and row that failed, if any did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="where to keep runs, table and study, and to go on from")
    parser.add_argument("--slots", type=int, help="runs at a time; as many as cores otherwise")
    chosen = parser.parse_args()
    slots = ["--slots", str(chosen.slots)] if chosen.slots else []
    with tempfile.TemporaryDirectory() as passing:
        summary, found = check((chosen.folder or Path(passing)).absolute(), slots)
    print(summary)
    if found:
        sys.exit("\n".join([f"{len(found)} faults:", *found]))
    print("every value trained")


if __name__ == "__main__":
    main()
