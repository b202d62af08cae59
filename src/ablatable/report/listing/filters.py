"""Filters on the command line: ``model.position=rope``, ``bleu>20``, ``status!=completed``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ablatable.config.yaml_file import parse_scalar
from ablatable.errors import InputError, nearest
from ablatable.report.listing.entry import Entry
from ablatable.report.listing.keys import Key, Kind, key
from ablatable.report.settings import INACTIVE

_WORD = re.compile(r"^\s*([A-Za-z0-9_.-]+)\s*(<=|>=|!=|==|=|<|>)(.*)$", re.DOTALL)

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ORDERING = ("<", "<=", ">", ">=")
_TEXT: frozenset[Kind] = frozenset({"text"})


@dataclass(frozen=True)
class Filter:
    """One condition. It never holds for a run that has no such value, or where the setting means nothing."""

    key: Key
    operator: str
    value: Any

    def holds(self, entry: Entry) -> bool:
        """Whether the run meets it."""
        found = self.key.of(entry)
        if found is INACTIVE or (found is None and not (self.key.nullable and entry.config)):
            return False
        if self.operator in _ORDERING:
            return found is not None and _OPERATORS[self.operator](found, self.value)
        return _OPERATORS[self.operator](found, self.value)


def parse(words: Sequence[str], entries: Sequence[Entry]) -> list[Filter]:
    """Read the filters. All of them must hold.

    Raises:
        InputError: a word that is no filter, an unknown key or value, a comparison that means nothing.
    """
    return [_filter(word, entries) for word in words]


def _filter(word: str, entries: Sequence[Entry]) -> Filter:
    found = _WORD.match(word)
    if found is None:
        raise InputError(
            f"'{word}' is not a filter; write for example model.position=rope or 'bleu>20' (quoted, since the shell "
            "takes > for itself)"
        )
    name, sign, text = found.groups()
    if sign == "==":
        raise InputError(f"'{word}': write one '=', as in {name}={text}")
    known = key(name, entries, f"'{word}'")
    return Filter(known, sign, _value(word, known, sign, text))


def _value(word: str, known: Key, sign: str, text: str) -> Any:
    if known.kinds == _TEXT:
        return _name(word, known, sign, text.strip())
    value: Any = parse_scalar(text, f"'{word}'")
    if value is None and known.nullable and sign in ("=", "!="):
        return None
    kind = _kind(value)
    if kind not in known.kinds:
        raise InputError(f"'{word}': '{text}' is not a value of {known.name}, which is a {' or '.join(known.kinds)}")
    if sign in _ORDERING and kind != "number":
        raise InputError(f"'{word}': only numbers are compared with '{sign}'; use = or !=")
    return value


def _name(word: str, known: Key, sign: str, text: str) -> str | None:
    """A text as it stands: a row named 1e3 is no number."""
    if sign in _ORDERING:
        raise InputError(f"'{word}': {known.name} is text and has no order; use = or !=")
    if text == "null" and known.nullable:
        return None
    if known.choices and text not in known.choices:
        hint = nearest(text, known.choices)
        raise InputError(f"'{word}': {known.name} is never '{text}'{hint} (known: {', '.join(known.choices)})")
    return text


def _kind(value: Any) -> Kind | None:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "list" if isinstance(value, list) else "text" if isinstance(value, str) else None
