"""The worked example of docs/adding.md, done to a copy of the source: a value is one file of code and its line."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import Block, apply, blocks

NAME = "relu2"
CODE = {"src/ablatable/nn/ffn.py"}
LINE = "src/ablatable/config/model/ffn.py"
ORACLE = "tests/oracle/test_sublayer_formulas.py"
GENERATED = (
    "tests/honesty/test_model_axes.py",
    "tests/honesty/test_layer_laws.py",
    "tests/unit/nn/test_layer_counts.py",
)
MAIN = "from ablatable.cli.main import main; main()"


@pytest.fixture(scope="module")
def example(repository: Path) -> list[Block]:
    return blocks(repository / "docs" / "adding.md")


@pytest.fixture(scope="module")
def changed(repository: Path, example: list[Block], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the example needs, with its diffs applied."""
    copy = tmp_path_factory.mktemp("changed")
    for folder in ("src", "experiments"):
        shutil.copytree(repository / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "tests/conftest.py", ORACLE, *GENERATED):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / file, copy / file)
    for block in example:
        if block.language == "diff":
            apply(block, copy)
    return copy


def _run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python with the copy's source before any other."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**inherited, "PYTHONPATH": str(copy / "src"), "ABLATABLE_RUNS": "runs", "ABLATABLE_CACHE": "cache"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=900, check=False)


def _command(example: list[Block], name: str) -> list[str]:
    shell = "".join(block.text for block in example if not block.language)
    lines = shell.replace("\\\n", "").splitlines()
    return shlex.split(next(line for line in lines if line.startswith(f"ablatable {name} ")))[1:]


def test_a_value_is_one_file_of_code_and_its_line(example: list[Block]) -> None:
    diffs = {block.path: block.text for block in example if block.language == "diff"}
    assert {path for path in diffs if path.startswith("src/")} == CODE | {LINE}
    changes = [line for line in diffs[LINE].splitlines() if not line.startswith(" ")]
    assert len(changes) == 1
    assert re.fullmatch(rf'\+ +"{NAME}": "[^"]+",', changes[0])


def test_quoted_code_is_the_code(example: list[Block], repository: Path) -> None:
    quoted = [block for block in example if block.language == "python"]
    assert quoted
    for block in quoted:
        assert block.text in (repository / block.path).read_text(encoding="utf-8"), block.path


def test_the_value_is_in_the_design_space(changed: Path, example: list[Block]) -> None:
    answer = _run(changed, "-c", MAIN, *_command(example, "axes"), "--format", "json")
    assert answer.returncode == 0, answer.stderr
    (axis,) = json.loads(answer.stdout)
    assert NAME in axis["values"]
    assert axis["sources"][NAME].startswith("So et al. 2021")


@pytest.mark.slow
def test_the_generated_tests_hold_for_the_value(changed: Path) -> None:
    answer = _run(changed, "-m", "pytest", "-q", "-k", NAME, ORACLE, *GENERATED)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    passed = re.search(r"(\d+) passed", answer.stdout)
    assert passed
    assert int(passed[1]) >= 10, answer.stdout


@pytest.mark.slow
def test_without_its_formula_the_value_fails(changed: Path, repository: Path) -> None:
    """A value cannot come in without a test that knows what it should do."""
    lacking = changed / "tests/oracle/test_lacking.py"
    shutil.copy(repository / ORACLE, lacking)
    answer = _run(changed, "-m", "pytest", "-q", "-k", NAME, str(lacking))
    assert answer.returncode == 1
    assert f"KeyError: '{NAME}'" in answer.stdout


@pytest.mark.slow
def test_the_value_trains(changed: Path, example: list[Block]) -> None:
    answer = _run(changed, "-c", MAIN, *_command(example, "train"), "--format", "json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["status"] == "completed"
    assert record["config"]["model"]["ffn"] == NAME
    assert math.isfinite(record["metrics"]["valid.nll"]["value"])
