"""What differs between the sides before anything was measured: settings, code, packages, machine, text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ablatable.config.tree import leaves
from ablatable.record.foreign import AnyRecord, ForeignRecord
from ablatable.record.schema import Stamp
from ablatable.report.compare.model import SettingLine
from ablatable.report.compare.side import Side
from ablatable.report.settings import UNTOLD, setting_at, stored_paths, told

_STAMPED: dict[str, Callable[[Stamp], Any]] = {
    "corpus": lambda stamp: stamp.corpus,
    "corpus_fingerprint": lambda stamp: stamp.corpus_fingerprint,
    "tokenizer_fingerprint": lambda stamp: stamp.tokenizer_fingerprint,
    "code_digest": lambda stamp: stamp.code_digest,
    "git_commit": lambda stamp: stamp.git_commit and stamp.git_commit[:12],
    "git_dirty_digest": lambda stamp: stamp.git_dirty_digest,
    "python": lambda stamp: stamp.python,
    "platform": lambda stamp: stamp.platform,
    "cpu": lambda stamp: stamp.hardware.cpu,
    "gpus": lambda stamp: ", ".join(stamp.hardware.gpus) or None,
    "threads": lambda stamp: stamp.threads,
    "devices": lambda stamp: stamp.devices,
    "deterministic": lambda stamp: stamp.deterministic,
}
"""What is looked at of a stamp, besides the packages."""


def differing_settings(sides: Sequence[Side]) -> list[SettingLine]:
    """The settings whose resolved values are not the same on all sides, in the order of the declarations.

    The seed is among them only where the sides do not have the same ones.
    """
    known = [*leaves(), *_others(sides)]
    lines = [
        SettingLine(
            path,
            _values(sides, lambda record, path=path: _setting(record, path)),
            _is_operational(path),
            any(path in side.tuned for side in sides),
        )
        for path in known
    ]
    return [line for line in lines if _differs(line)]


def differing_provenance(sides: Sequence[Side]) -> list[SettingLine]:
    """What differs in how the records came about."""
    packages = sorted({name for side in sides for record in side.ours for name in record.stamp.packages})
    lines = [
        SettingLine(name, _values(sides, lambda record, read=read: _stamped(record, read)))
        for name, read in _STAMPED.items()
    ]
    lines += [
        SettingLine(
            name, _values(sides, lambda record, name=name: _stamped(record, lambda stamp: stamp.packages.get(name)))
        )
        for name in packages
    ]
    return [line for line in lines if _differs(line)]


def _stamped(record: AnyRecord, read: Callable[[Stamp], Any]) -> Any:
    return UNTOLD if isinstance(record, ForeignRecord) else read(record.stamp)


def _setting(record: AnyRecord, path: str) -> Any:
    if isinstance(record, ForeignRecord):
        return record.seed if path == "seed" else told(record.config, path)
    if path not in leaves():
        section, _, name = path.partition(".")
        return record.config.get(section, {}).get(name) if name else record.config.get(section)
    return setting_at(record.config, path)


def _others(sides: Sequence[Side]) -> list[str]:
    """Settings of another version of the program, which the design space has no more."""
    found = (path for side in sides for record in side.records for path in stored_paths(record.config))
    return sorted({path for path in found if path not in leaves()})


def _is_operational(path: str) -> bool:
    return path in leaves() and not leaves()[path].semantic


def _values(sides: Sequence[Side], read: Callable[[AnyRecord], Any]) -> tuple[Any, ...]:
    """Of each side the one value its runs share, else all of them as a tuple."""
    found: list[Any] = []
    for side in sides:
        own = [read(record) for record in side.records]
        found.append(own[0] if all(value == own[0] for value in own) else tuple(own))
    return tuple(found)


def _differs(line: SettingLine) -> bool:
    """Whether those that are told do."""
    values = [value for value in line.values if value is not UNTOLD]
    return any(value != values[0] or type(value) is not type(values[0]) for value in values)
