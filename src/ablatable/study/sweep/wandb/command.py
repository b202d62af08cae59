"""The command of a W&B sweep: what its agent calls for each run. It must be `ablatable train`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ablatable.config.yaml_file import Document
from ablatable.errors import InputError
from ablatable.study.sweep.schema import Sweep

PROGRAM = "ablatable"
ARGS = "${args_no_hyphens}"
"""The agent puts `key=value` words here, which is how `ablatable train` takes settings."""

_DEFAULT = ("${env}", "${interpreter}", "${program}", "${args}")
"""What an agent calls where the file names no command."""
_EXAMPLE = '["${env}", "${program}", train, base, "${args_no_hyphens}"] with `program: ablatable`'
_ENVIRONMENT = re.compile(r"\$\{envvar:([A-Z0-9_]*)\}")
_PYTHON = re.compile(r"python[0-9.]*")
_SHOWN = ("--format",)
"""Options of `ablatable train` with a value that changes nothing of the run."""


@dataclass(frozen=True)
class Called:
    """What every run of a W&B sweep calls: an experiment, a scale, settings."""

    experiment: str
    scale: str | None
    words: tuple[str, ...]


def written(sweep: Sweep) -> list[str]:
    """The command for one of our sweeps. Its runs go online: the search waits for what they report."""
    scale = [] if sweep.scale is None else ["--scale", sweep.scale]
    return ["${env}", "${program}", "train", sweep.experiment, *scale, "tracking.wandb=online", ARGS]


def called(origin: Document) -> Called:
    """Read the command of a W&B sweep.

    Raises:
        InputError: it is not `ablatable train EXPERIMENT`, or hands over the parameters in another form.
    """
    where = origin.where("command") if "command" in origin.data else origin.where("program")
    words = _past_interpreter(_expanded(origin, where))
    if len(words) < 2 or Path(words[0]).name != PROGRAM or words[1] != "train":
        shown = " ".join(words) or "nothing"
        raise InputError(f"{where}: the command runs `{shown}`, and only `ablatable train` is run here: {_EXAMPLE}")
    return _arguments(words[2:], where)


def _expanded(origin: Document, where: str) -> list[str]:
    """The words as an agent would call them; macros for the parameters stay."""
    given = origin.data.get("command", _DEFAULT)
    if not isinstance(given, list | tuple) or not given:
        raise InputError(f"{where}: 'command' is a list of words, such as {_EXAMPLE}")
    words: list[str] = []
    for chunk in cast(Sequence[Any], given):
        match str(chunk):
            case "${env}":
                words.append("env")
            case "${interpreter}":
                words.append("python")
            case "${program}":
                if not isinstance(origin.data.get("program"), str):
                    raise InputError(
                        f"{where}: the command calls ${{program}} and none is named; add program: {PROGRAM}"
                    )
                words.append(origin.data["program"])
            case word:
                words.append(_ENVIRONMENT.sub(lambda found: os.environ.get(found[1], found[1]), word))
    return words


def _past_interpreter(words: Sequence[str]) -> list[str]:
    rest = list(words)
    if rest and Path(rest[0]).name == "env":
        rest.pop(0)
    if rest and _PYTHON.fullmatch(Path(rest[0]).name):
        rest.pop(0)
    return rest


def _arguments(words: Sequence[str], where: str) -> Called:
    named: list[str] = []
    settings: list[str] = []
    scale: str | None = None
    args = False
    rest = iter(words)
    for word in rest:
        option, _, value = word.partition("=")
        if word == ARGS:
            args = True
        elif word.startswith("${"):
            raise InputError(f"{where}: `ablatable train` takes key=value words, which {word} is not; write {ARGS}")
        elif option == "--scale":
            scale = _value(option, value, rest, where)
        elif option == "--seed":
            settings.append(f"seed={_value(option, value, rest, where)}")
        elif option in _SHOWN:
            _value(option, value, rest, where)
        elif word.startswith("-") and word != "--retry-failed":
            raise InputError(f"{where}: {word} is no option of `ablatable train` that a sweep can have; remove it")
        elif word != "--retry-failed":
            (settings if value else named).append(word)
    if len(named) != 1:
        said = "names no experiment" if not named else f"names several experiments ({', '.join(named)})"
        raise InputError(f"{where}: the command {said}; write for example {_EXAMPLE}")
    if not args:
        raise InputError(f"{where}: the command hands over no parameters; add {ARGS}")
    return Called(named[0], scale, tuple(settings))


def _value(option: str, value: str, rest: Iterator[str], where: str) -> str:
    found = value or next(rest, "")
    if not found or found.startswith("$"):
        raise InputError(f"{where}: {option} has no value; write it behind")
    return found
