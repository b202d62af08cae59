"""Reading a study file: strict, and every complaint says which file, which line and what to write instead."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ablatable.config import tree
from ablatable.config.locate import find
from ablatable.config.yaml_file import Document, read
from ablatable.errors import InputError, nearest
from ablatable.study.schema import RUN_METRICS, SCORE_METRICS, Column, Group, Row, Study
from ablatable.study.strict import construct, refuse_unknown_keys

DERIVED_PATHS = ("model.key_size", "model.value_size")
"""Columns may also show d_k and d_v resolved (the settings themselves may be null: d_model / heads)."""

_KEYS: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(f.name for f in fields(cls) if f.name != "origin") for cls in (Study, Column, Group, Row)
}
_EXAMPLES = {
    "columns": "{label: N, path: model.layers}",
    "groups": '{id: A, label: "(A)"}',
    "rows": "{name: h=4, set: {model.heads: 4}}",
}
_Part = TypeVar("_Part", Study, Column, Group, Row)


def load_study(name_or_path: str | Path) -> Study:
    """Read and check a study by name (`table3`) or by path (`ablations/table3.yaml`).

    Checks the file by itself; whether two rows are the same run is known once they are resolved
    (:func:`ablatable.study.resolve.resolve`).

    Raises:
        InputError: no such study, YAML syntax, an unknown or doubled key, a wrong type, a doubled row, an
            unknown group, setting or metric; the message names file, line and remedy.
    """
    return read_study(find("ablations", str(name_or_path)))


def read_study(path: Path) -> Study:
    """Read and check the study in one file; see :func:`load_study`."""
    origin = read(path)
    refuse_unknown_keys(origin.data, (), _KEYS[Study], origin)
    given: dict[str, Any] = {
        **origin.data,
        "columns": _items(Column, "columns", origin),
        "groups": _items(Group, "groups", origin),
        "rows": _items(Row, "rows", origin),
        "scales": tuple(_list("scales", origin)),
    }
    study = construct(Study, given, (), origin, "study")
    study = replace(study, origin=origin)
    _check_names(study)
    _check_columns(study)
    for i, row in enumerate(study.rows):
        _check_row(study, i, row)
    return study


def _list(key: str, origin: Document) -> list[Any]:
    value = origin.data.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{origin.where(key)}: '{key}' is a list; begin each entry with '- '")
    return cast(list[Any], value)


def _items(cls: type[_Part], section: str, origin: Document) -> tuple[_Part, ...]:
    built: list[_Part] = []
    for i, item in enumerate(_list(section, origin)):
        place = (section, i)
        if not isinstance(item, dict):
            raise InputError(
                f"{origin.where(*place)}: an entry of '{section}' is a mapping, such as {_EXAMPLES[section]}"
            )
        given = cast(dict[str, Any], item)
        refuse_unknown_keys(given, place, _KEYS[cls], origin)
        built.append(construct(cls, given, place, origin, "study"))
    return tuple(built)


def _check_names(study: Study) -> None:
    at = study.origin.where
    if study.name != study.origin.path.stem:
        raise InputError(
            f"{at('name')}: name '{study.name}' differs from the file's name; "
            f"rename one, since results are filed under the study's name"
        )
    _refuse_doubles([row.name for row in study.rows], "rows", "row", study)
    _refuse_doubles([group.id for group in study.groups], "groups", "group", study)
    _refuse_doubles([column.label for column in study.columns], "columns", "column", study)
    unset = [i for i, row in enumerate(study.rows) if not row.set]
    if not unset:
        raise InputError(f"{at('rows')}: no row is the baseline; add a row without 'set'")
    if len(unset) > 1:
        first, second = (study.rows[i].name for i in unset[:2])
        raise InputError(
            f"{at('rows', unset[1])}: row '{second}' changes nothing: row '{first}' is the baseline already; "
            f"give it a 'set' or remove it"
        )


def _refuse_doubles(names: list[str], section: str, what: str, study: Study) -> None:
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in seen:
            first = study.origin.where(section, seen[name])
            where = study.origin.where(section, i)
            raise InputError(f"{where}: {what} '{name}' is there twice (first at {first}); rename one")
        seen[name] = i


def _check_columns(study: Study) -> None:
    for i, column in enumerate(study.columns):
        if column.path is not None and column.path not in DERIVED_PATHS:
            tree.leaf(column.path, study.origin.where("columns", i, "path"))
        known = (*SCORE_METRICS, *RUN_METRICS)
        if column.metric is not None and column.metric not in known:
            where = study.origin.where("columns", i, "metric")
            hint = nearest(column.metric, known) or f"; known: {', '.join(known)}"
            raise InputError(f"{where}: unknown metric '{column.metric}'{hint}")


def _check_row(study: Study, i: int, row: Row) -> None:
    at = study.origin.where
    groups = [group.id for group in study.groups]
    if row.group is not None and row.group not in groups:
        hint = nearest(row.group, groups) or f"; the study has {', '.join(groups) or 'none'}"
        raise InputError(f"{at('rows', i, 'group')}: unknown group '{row.group}'{hint}")
    for path in row.set:
        where = at("rows", i, "set", path)
        leaf = tree.leaf(path, where)
        if path == "seed":
            raise InputError(f"{where}: a row can't set the seed; seeds are repeats of every row (--seeds N)")
        if not leaf.semantic:
            raise InputError(f"{where}: '{path}' says how to run, not what; a row that sets it would be the same run")
    known = [column.reported for column in study.columns if column.reported is not None]
    for key in row.reported:
        if key not in known:
            hint = nearest(key, known) or "; no column has it under 'reported'"
            raise InputError(f"{at('rows', i, 'reported', key)}: no column shows reported '{key}'{hint}")
