"""What a person says of runs to import: their rows and seeds, and which of their names mean ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ablatable.config import tree
from ablatable.config.yaml_file import Document, read
from ablatable.errors import InputError, nearest
from ablatable.study.schema import SCORE_METRICS
from ablatable.study.strict import refuse_unknown_keys

TARGETS = (*(f"{split}.{metric}" for split in ("valid", "test") for metric in SCORE_METRICS), "parameters", "flops")
"""What another tool's numbers can be."""

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._=+-]{0,59}$")
_TERM = re.compile(r"^(?:([0-9.eE+-]+)\*)?(.+)$", re.DOTALL)


@dataclass(frozen=True)
class Term:
    """A number of the source, times a factor: ``100*val_bleu``. ``plain`` where no factor was written."""

    name: str
    factor: float = 1.0
    plain: bool = True


@dataclass(frozen=True)
class Place:
    """The row and seed a run goes to; what is None was not said."""

    row: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Mapped:
    """All that was said. ``runs`` is empty where the source holds one run, which then goes to ``place``."""

    study: str | None = None
    place: Place = Place()
    metrics: Mapping[str, Term] = field(default_factory=dict[str, Term])
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    update: str | None = None
    runs: Mapping[str, Place] = field(default_factory=dict[str, Place])


def of_words(
    study: str | None,
    row: str | None,
    seed: int | None,
    metrics: Sequence[str],
    settings: Sequence[str],
    update: str | None,
) -> Mapped:
    """Read the command line's ``--metric OURS=THEIRS`` and ``--setting PATH=KEY``.

    Raises:
        InputError: a word that is no pair, an unknown metric or setting of ours, a name that no row may have.
    """
    return Mapped(
        study=_name(study, "--study"),
        place=Place(_name(row, "--row"), seed),
        metrics=dict(_metric(*_pair(word, "--metric"), f"--metric {word}") for word in metrics),
        settings=dict(_setting(*_pair(word, "--setting"), f"--setting {word}") for word in settings),
        update=update,
    )


def of_file(path: Path) -> Mapped:
    """Read a mapping file: ``study``, ``metrics``, ``settings``, ``update`` and ``runs`` by the names the source has.

    Raises:
        InputError: as `of_words`, with file and line.
    """
    origin = read(path)
    refuse_unknown_keys(origin.data, (), ("study", "metrics", "settings", "update", "runs"), origin)
    at = origin.where
    metrics, settings, runs = (_mapping(origin, key) for key in ("metrics", "settings", "runs"))
    return Mapped(
        study=_name(_text(origin.data.get("study"), at("study")), at("study")),
        metrics=dict(
            _metric(ours, _text(term, at("metrics", ours)), at("metrics", ours)) for ours, term in metrics.items()
        ),
        settings=dict(_setting(p, _text(key, at("settings", p)), at("settings", p)) for p, key in settings.items()),
        update=_text(origin.data.get("update"), at("update")),
        runs={str(name): _place(origin, name, said) for name, said in runs.items()},
    )


def together(file: Mapped, words: Mapped) -> Mapped:
    """What the file says, and over it what the command line does."""
    return Mapped(
        study=words.study or file.study,
        place=words.place,
        metrics={**file.metrics, **words.metrics},
        settings={**file.settings, **words.settings},
        update=words.update or file.update,
        runs=file.runs,
    )


def _pair(word: str, option: str) -> tuple[str, str]:
    ours, equals, theirs = word.partition("=")
    if not equals or not ours or not theirs:
        example = "valid.bleu=val_bleu" if option == "--metric" else "model.layers=n_layers"
        raise InputError(f"{option} {word}: write ours=theirs, such as {option} {example}")
    return ours, theirs


def _metric(ours: str, theirs: str | None, where: str) -> tuple[str, Term]:
    if ours not in TARGETS:
        raise InputError(
            f"{where}: '{ours}' is no metric of ours{nearest(ours, TARGETS)} (known: {', '.join(TARGETS)})"
        )
    found = _TERM.match(theirs or "")
    if found is None:
        raise InputError(f"{where}: say which number of the source is {ours}")
    try:
        factor = float(found[1]) if found[1] is not None else 1.0
    except ValueError:
        raise InputError(f"{where}: '{found[1]}' is no number to multiply with; write such as 100*val_bleu") from None
    return ours, Term(found[2], factor, found[1] is None)


def _setting(path: str, key: str | None, where: str) -> tuple[str, str]:
    tree.leaf(path, where)
    if not key:
        raise InputError(f"{where}: say which key of the source's configuration is {path}")
    return path, key


def _name(name: str | None, where: str) -> str | None:
    if name is not None and not _NAME.match(name):
        raise InputError(f"{where}: '{name}' is no name; letters, digits and ._=+- up to 60, a letter or digit first")
    return name


def _text(value: object, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: a name is expected here (got {value!r})")
    return value


def _mapping(origin: Document, key: str) -> dict[str, Any]:
    value = origin.data.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{origin.where(key)}: '{key}' is a mapping, one `ours: theirs` a line")
    return cast(dict[str, Any], value)


def _place(origin: Document, name: str, said: object) -> Place:
    where = origin.where("runs", name)
    if not isinstance(said, dict):
        raise InputError(f"{where}: say the row, and the seed: {{row: base, seed: 1}}")
    given = cast(dict[str, Any], said)
    refuse_unknown_keys(given, ("runs", name), ("row", "seed"), origin)
    seed = given.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise InputError(f"{where}: a seed is a whole number (got {seed!r})")
    return Place(_name(_text(given.get("row"), where), where), seed)
