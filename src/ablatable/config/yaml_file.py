"""YAML with line numbers, duplicate keys refused, and the scalars a researcher means.

YAML 1.2's core rules are used for scalars: ``1e-9`` is a number, ``off``, ``no`` and ``none`` are words, and only
``true``/``false`` are booleans. PyYAML's default (YAML 1.1) would read ``tracking.wandb: off`` as false.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from ablatable.errors import InputError

_SCALARS: tuple[tuple[str, str, list[str]], ...] = (
    ("tag:yaml.org,2002:null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("tag:yaml.org,2002:bool", r"^(?:true|false)$", list("tf")),
    ("tag:yaml.org,2002:int", r"^[-+]?[0-9][0-9_]*$", list("-+0123456789")),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:[0-9][0-9_]*)?\.?[0-9]+(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+\.$|^[-+]?\.inf$|^\.nan$",
        list("-+.0123456789"),
    ),
)


if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:  # libyaml reads ten times faster; both give the same nodes and marks
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
    """Starts without the scalar rules of YAML 1.1."""


_Loader.yaml_implicit_resolvers = {}


for _tag, _pattern, _starts in _SCALARS:
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), _starts)


def _number(loader: _Loader, node: yaml.ScalarNode) -> int:
    # Decimal only: YAML 1.1 would read 010 as eight and 1_0 as ten.
    return int(str(loader.construct_scalar(node)).replace("_", ""))


_Loader.add_constructor("tag:yaml.org,2002:int", _number)


@dataclass(frozen=True)
class Document:
    """A YAML mapping and where each key of it stands."""

    path: Path
    data: dict[str, Any]
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict[tuple[str | int, ...], int])

    def where(self, *keys: str | int) -> str:
        """``experiments/base.yaml:12`` for the deepest of these keys that has a line."""
        for depth in range(len(keys), 0, -1):
            if keys[:depth] in self.lines:
                return f"{shown(self.path)}:{self.lines[keys[:depth]]}"
        return shown(self.path)


def shown(path: Path) -> str:
    """The path as a person would type it: relative to the current directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except ValueError:
        return str(path)


def read(path: Path) -> Document:
    """Read one YAML mapping.

    Raises:
        InputError: unreadable file, invalid UTF-8 or YAML, a key given twice, or something other than a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{shown(path)}: not valid UTF-8 at byte {error.start}; save the file as UTF-8") from error
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return Document(path, {})
        lines: dict[tuple[str | int, ...], int] = {}
        _index(root, (), lines, path)
        data = cast(object, loader.construct_document(root))
    except yaml.YAMLError as error:
        raise InputError(_syntax(path, error)) from error
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"{shown(path)}: an alias that holds itself, blocks nested too deep or a number too long; "
            "write plain values"
        ) from error
    if not isinstance(data, dict):
        raise InputError(f"{shown(path)}: expected `key: value` lines, found {type(data).__name__}")
    return Document(path, cast(dict[str, Any], data), lines)


def parse_scalar(text: str, where: str) -> Any:
    """Parse the right-hand side of ``key=value`` by the same rules.

    Raises:
        InputError: not valid YAML.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{where}: cannot read the value '{text}'; quote it if it holds : or #") from error


def _syntax(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not valid YAML"
    place = f"{shown(path)}:{mark.line + 1}:{mark.column + 1}" if mark else shown(path)
    return f"{place}: YAML syntax error, {problem}"


def _index(node: yaml.Node, at: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int], path: Path) -> None:
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            lines[(*at, position)] = item.start_mark.line + 1
            _index(item, (*at, position), lines, path)
    elif isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            key = (*at, str(key_node.value))
            line = key_node.start_mark.line + 1
            if key in lines:
                raise InputError(
                    f"{shown(path)}:{line}: key '{key_node.value}' is given twice (also at line {lines[key]}); keep one"
                )
            lines[key] = line
            _index(value_node, key, lines, path)
