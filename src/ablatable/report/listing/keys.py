"""What runs can be filtered, sorted and shown by: labels, facts, settings and metrics, each under one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from ablatable.config.tree import Leaf, leaves
from ablatable.errors import InputError, nearest
from ablatable.report.listing.entry import STATUSES, Entry
from ablatable.report.measures import DEFAULT_SPLIT, FACTS, SCORES
from ablatable.report.settings import UNTOLD, setting_at, told
from ablatable.study.schema import VOCABULARY_METRICS

Kind = Literal["text", "number", "boolean", "list"]


@dataclass(frozen=True)
class Key:
    """A named property of runs. ``of`` gives None where a run hasn't got it, `INACTIVE` where it means nothing."""

    name: str
    kinds: frozenset[Kind]
    of: Callable[[Entry], Any]
    choices: tuple[str, ...] = ()
    """All the values there are, where they are names."""
    nullable: bool = False
    """Whether null is a value of its own."""
    measured: bool = False


def key(name: str, entries: Iterable[Entry], where: str) -> Key:
    """Look a key up: a label or fact, a dotted setting, or a metric, short (``bleu``: of the development data) or full.

    Raises:
        InputError: there is none of that name; names the nearest.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    if name in leaves():
        return _of_setting(leaves()[name])
    measured = _metrics(entries)
    full = name if name in measured else f"{DEFAULT_SPLIT}.{name}"
    if full in measured:
        return _metric(full)
    short = [metric.removeprefix(f"{DEFAULT_SPLIT}.") for metric in measured]
    hint = nearest(name, [*_PLAIN, *short, *measured, *leaves()])
    raise InputError(f"{where}: unknown key '{name}'{hint or '; `ablatable axes` lists the settings'}")


def _metrics(entries: Iterable[Entry]) -> list[str]:
    """Every metric a record may have, and what these records have besides (length buckets)."""
    found = dict.fromkeys((*SCORES, *VOCABULARY_METRICS))
    for entry in entries:
        if (record := entry.record or entry.foreign) is not None:
            found.update(dict.fromkeys(record.metrics))
    return list(found)


def _metric(name: str) -> Key:
    def value(entry: Entry) -> float | None:
        record = entry.record or entry.foreign
        return None if record is None else record.metric(name)

    return Key(name, frozenset({"number"}), value, measured=True)


def _of_setting(leaf: Leaf) -> Key:
    def value(entry: Entry) -> Any:
        if entry.foreign is not None:
            return entry.seed if leaf.path == "seed" else _told(entry.foreign.config, leaf.path)
        return setting_at(entry.config, leaf.path) if entry.config else None

    kinds, choices = _kinds(leaf)
    return Key(leaf.path, kinds, value, choices, nullable=type(None) in get_args(leaf.annotation))


def _told(config: dict[str, Any], path: str) -> Any:
    found = told(config, path)
    return None if found is UNTOLD else found


def _kinds(leaf: Leaf) -> tuple[frozenset[Kind], tuple[str, ...]]:
    """What a setting's values are, and all of them where they are a few names."""
    if get_origin(leaf.annotation) is tuple:
        return frozenset({"list"}), ()
    if get_origin(leaf.annotation) is Literal:
        return frozenset({"text"}), get_args(leaf.annotation)
    if leaf.axis and leaf.axis.choices:
        return frozenset({"text"}), tuple(leaf.axis.choices)
    members = get_args(leaf.annotation) or (leaf.annotation,)
    return frozenset(_KINDS[member] for member in members if member in _KINDS), ()


_KINDS: dict[Any, Kind] = {bool: "boolean", int: "number", float: "number", str: "text"}


def _text(name: str, of: Callable[[Entry], Any], choices: tuple[str, ...] = ()) -> Key:
    return Key(name, frozenset({"text"}), of, choices)


def _fact(name: str) -> Key:
    def value(entry: Entry) -> Any:
        return None if entry.record is None else getattr(entry.record, name)

    return Key(name, frozenset({"number"}), value, measured=True)


def _stamped(name: str) -> Key:
    return _text(name, lambda entry: None if entry.record is None else getattr(entry.record.stamp, name))


_PLAIN: dict[str, Key] = {
    "id": _text("id", lambda entry: entry.id),
    "status": _text("status", lambda entry: entry.status, STATUSES),
    "cause": _text("cause", lambda entry: entry.cause),
    "origin": _text("origin", lambda entry: entry.origin),
    "study": _text("study", lambda entry: entry.labels.study),
    "row": _text("row", lambda entry: entry.labels.row),
    "scale": _text("scale", lambda entry: entry.labels.scale),
    **{name: _fact(name) for name in FACTS},
    "updates": Key("updates", frozenset({"number"}), lambda entry: entry.updates, measured=True),
    **{
        name: _stamped(name)
        for name in ("started", "finished", "git_commit", "code_digest", "corpus_fingerprint", "tokenizer_fingerprint")
    },
}
