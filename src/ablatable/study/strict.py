"""Strict reading of YAML entries into dataclasses: every complaint names file, line, key and what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from ablatable.config.yaml_file import Document
from ablatable.errors import InputError, nearest

Place: TypeAlias = tuple[str | int, ...]
"""Keys that lead to an entry of a document."""

_Built = TypeVar("_Built")


def construct(cls: Callable[..., _Built], given: dict[str, Any], place: Place, origin: Document, what: str) -> _Built:
    """Make a dataclass of an entry of a document.

    Args:
        cls: a strict pydantic dataclass.
        given: its fields.
        place: where in the document they stand.
        origin: the document.
        what: what the whole document is called, for a complaint that has no key.

    Raises:
        InputError: a missing key, a wrong type or an impossible value.
    """
    try:
        return cls(**given)
    except ValidationError as error:
        raise InputError(_message(error, place, origin, what)) from error


def refuse_unknown_keys(keys: Iterable[str], place: Place, known: Iterable[str], origin: Document) -> None:
    """Refuse keys that nothing reads.

    Raises:
        InputError: with the nearest key.
    """
    known = tuple(known)
    for key in keys:
        if key not in known:
            hint = nearest(str(key), known) or f"; known: {', '.join(known)}"
            raise InputError(f"{origin.where(*place, key)}: unknown key '{key}'{hint}")


def _message(error: ValidationError, place: Place, origin: Document, what: str) -> str:
    first = error.errors(include_url=False)[0]
    place = (*place, *first["loc"])
    if first["type"] == "missing":
        return f"{origin.where(*place)}: '{_dotted(place, what)}' is missing; add it"
    while place and place not in origin.lines:  # pydantic appends the union member it tried
        place = place[:-1]
    where, key = origin.where(*place), _dotted(place, what)
    if len(place) == 4 and place[2] in ("set", "fixed"):
        return f"{where}: '{key}': a setting is one value: a number, text, true, false or null"
    message = first["msg"].removeprefix("Value error, ")
    shown = "" if isinstance(first["input"], dict | list | tuple) else f" (got {first['input']!r})"
    return f"{where}: '{key}': {message[0].lower()}{message[1:]}{shown}"


def _dotted(place: Place, what: str) -> str:
    return ".".join(str(part) for part in place) or what
