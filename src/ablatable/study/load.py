"""Reading a study file: strict, and every complaint says which file, which line and what to write instead."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ablatable.config import tree
from ablatable.config.locate import find, known
from ablatable.config.yaml_file import Document, read
from ablatable.errors import InputError, nearest
from ablatable.study.reported import check_column, check_row
from ablatable.study.schema import RUN_METRICS, SCORE_METRICS, Column, Group, Row, Study
from ablatable.study.strict import construct, refuse_unknown_keys
from ablatable.study.tuning.schema import Tuning

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
        "tuning": _tuning(origin),
    }
    study = construct(Study, given, (), origin, "study")
    study = replace(study, origin=origin)
    _check_names(study)
    _check_columns(study)
    for key in study.fixed:
        _check_setting(key, origin.where("fixed", key), "a study")
    for i, row in enumerate(study.rows):
        _check_row(study, i, row)
    _check_tuned(study)
    return study


def _tuning(origin: Document) -> Tuning | None:
    if "tuning" not in origin.data:
        return None
    from ablatable.study.tuning.load import read_tuning  # reads ranges as a sweep does, which most tables have none of

    return read_tuning(origin)


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
        if isinstance(given.get("scales"), list):
            given = {**given, "scales": tuple(given["scales"])}
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
    unset = [i for i, row in enumerate(study.rows) if not row.changes and not row.imported]
    if not unset:
        raise InputError(f"{at('rows')}: no row is the baseline; add a row without 'set' and 'fixed'")
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
        metrics = (*SCORE_METRICS, *RUN_METRICS)
        if column.metric is not None and column.metric not in metrics:
            where = study.origin.where("columns", i, "metric")
            hint = nearest(column.metric, metrics) or f"; known: {', '.join(metrics)}"
            raise InputError(f"{where}: unknown metric '{column.metric}'{hint}")
        check_column(study, i)


def _check_row(study: Study, i: int, row: Row) -> None:
    at = study.origin.where
    groups = [group.id for group in study.groups]
    if row.group is not None and row.group not in groups:
        hint = nearest(row.group, groups) or f"; the study has {', '.join(groups) or 'none'}"
        raise InputError(f"{at('rows', i, 'group')}: unknown group '{row.group}'{hint}")
    if row.imported and row.changes:
        raise InputError(
            f"{at('rows', i, 'imported')}: row '{row.name}' is imported, so its settings are what was told there; "
            "leave out 'set' and 'fixed', or 'imported' to have it trained"
        )
    for path in row.set:
        _check_setting(path, at("rows", i, "set", path), "a row")
        if path in row.fixed or path in study.fixed:
            raise InputError(
                f"{at('rows', i, 'set', path)}: '{path}' stands under 'fixed' too, where no scale touches it; "
                "keep it there"
            )
    for path in row.fixed:
        _check_setting(path, at("rows", i, "fixed", path), "a row")
    _check_scales(study, i, row)
    check_row(study, i)


def _check_setting(path: str, where: str, who: str) -> None:
    leaf = tree.leaf(path, where)
    if path == "seed":
        raise InputError(f"{where}: {who} can't set the seed; seeds are repeats of every row (--seeds N)")
    if not leaf.semantic:
        raise InputError(f"{where}: '{path}' says how to run, not what; {who} that sets it would be the same run")


def _check_tuned(study: Study) -> None:
    """What is tuned must be free: neither fixed for all nor (where every row is tuned) what a row is about."""
    if study.tuning is None:
        return
    at = study.origin.where
    for path in study.tuning.axes:
        if path in study.fixed:
            raise InputError(f"{at('fixed', path)}: '{path}' is tuned too ({at('tuning')}); remove it from one of them")
        for i, row in enumerate(study.rows):
            if study.tuning.per == "row" and path in row.changes:
                key = "set" if path in row.set else "fixed"
                raise InputError(
                    f"{at('rows', i, key, path)}: row '{row.name}' sets '{path}', which 'tuning' searches in every "
                    "row; remove one of them, or tune with 'per: study'"
                )


def _check_scales(study: Study, i: int, row: Row) -> None:
    at = study.origin.where
    if row.scales and not row.changes and not row.imported:
        raise InputError(
            f"{at('rows', i, 'scales')}: row '{row.name}' is the baseline, which every scale has; leave out 'scales'"
        )
    for j, name in enumerate(row.scales):
        known_scales = study.scales or known("experiments/scales")
        if name not in known_scales:
            whose = "the study runs at" if study.scales else "known:"
            raise InputError(
                f"{at('rows', i, 'scales', j)}: unknown scale '{name}'{nearest(name, known_scales)} "
                f"({whose} {', '.join(known_scales)})"
            )
