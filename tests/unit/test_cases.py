"""The list of known traps names tests that exist."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

TESTS = Path(__file__).parents[1]
LIST: dict[str, Any] = yaml.safe_load((TESTS / "cases.yaml").read_text(encoding="utf-8"))


@cache
def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("case", LIST["tests"])
def test_a_case_names_tests_that_exist(case: str) -> None:
    assert LIST["tests"][case]
    for place in LIST["tests"][case]:
        file, name = place.split("::")
        assert name in functions(TESTS / file), f"{case}: {place} does not exist"


def test_no_case_is_both_tested_and_left_out() -> None:
    assert not set(LIST["tests"]) & set(LIST["not-ours"])
    assert all(len(reason) > 20 for reason in LIST["not-ours"].values())
