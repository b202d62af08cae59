"""Every named choice has its class and a test that knows it: one that fails when another class takes its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from oracles import DICTS, LAYOUTS, ORACLES, calls

from ablatable.config.tree import leaves, values_of

NAMED = {path: leaf.axis for path, leaf in leaves().items() if leaf.axis and leaf.axis.choices}
TABLES = [(path, table) for path, tables in (DICTS | LAYOUTS).items() for table in tables]


def test_the_classes_of_every_named_choice_are_those_the_axis_names() -> None:
    for path, axis in NAMED.items():
        names = [name for table in DICTS[path] for name in table]
        assert sorted(names) == sorted(axis.choices), path
        assert set(axis.choices) == set(get_args(values_of(path)) or values_of(path))
    for path, tables in LAYOUTS.items():
        assert all(list(table) == list(values_of(path)) for table in tables), path


@pytest.mark.parametrize(("path", "value"), [(path, value) for path in NAMED | LAYOUTS for value in values_of(path)])
def test_every_named_choice_is_known_to_an_oracle_or_a_law(path: str, value: str) -> None:
    assert path in ORACLES
    assert list(calls(path, value)), f"no test below tests/ mentions {path}={value}"


def _mutants() -> Iterator[Any]:
    """Each name with the class of the first name and that of the next."""
    for path, table in TABLES:
        names = list(table)
        for at, name in enumerate(names):
            for other in dict.fromkeys((names[0], names[(at + 1) % len(names)])):
                if other != name:
                    yield pytest.param(path, table, name, other, id=f"{path}={name} is {other}")


@pytest.mark.parametrize(("path", "table", "name", "other"), list(_mutants()))
def test_another_class_under_a_name_is_noticed(
    path: str, table: dict[str, Any], name: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = list(calls(path, name))
    monkeypatch.setitem(table, name, table[other])
    assert any(map(_fails, known)), f"{ORACLES[path]} takes {other} for {name}"


def _fails(call: Any) -> bool:
    try:
        call()
    except Exception:  # noqa: BLE001 (whatever another class does where it does not belong)
        return True
    return False


@pytest.mark.parametrize("path", ORACLES)
def test_the_oracles_hold_as_things_are(path: str) -> None:
    """Otherwise that they fail above would prove nothing."""
    for value in values_of(path):
        next(calls(path, value))()
