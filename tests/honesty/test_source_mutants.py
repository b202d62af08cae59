"""Slips put into a copy of the source must make named tests fail, one slip at a time."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from source_mutants import MUTANTS, Mutant


def _each() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))


@pytest.fixture(scope="module")
def copy(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, to be changed in one file and mended again."""
    folder = tmp_path_factory.mktemp("mutated") / "src"
    shutil.copytree(repository / "src", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _environment(source: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {**inherited, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}


def _run(repository: Path, source: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests of the checkout on another source; the first failure ends them."""
    words = shlex.split(tests)
    files = [str(repository / "tests" / word) if "/" in word else word for word in words]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *files]
    return subprocess.run(
        command, cwd=repository, env=_environment(source), capture_output=True, text=True, check=False
    )


@_each()
def test_each_slip_is_still_possible(mutant: Mutant, repository: Path) -> None:
    source = (repository / "src" / "ablatable" / mutant.file).read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1
    compile(source.replace(mutant.old, mutant.new), mutant.file, "exec")


@pytest.mark.slow
@_each()
def test_each_slip_is_noticed(mutant: Mutant, repository: Path, copy: Path) -> None:
    file = copy / "ablatable" / mutant.file
    source = file.read_text(encoding="utf-8")
    file.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        answer = _run(repository, copy, mutant.tests)
    finally:
        file.write_text(source, encoding="utf-8")
    assert answer.returncode == 1, f"rc {answer.returncode}: {answer.stdout}{answer.stderr}"
    assert " failed" in answer.stdout


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["unit/training/test_loss.py", "honesty/test_run_laws.py -k first_update"])
def test_without_a_slip_the_copy_passes(tests: str, repository: Path, copy: Path) -> None:
    """What fails above fails for the slip alone: the same tests pass on the source as it is, here and in the suite."""
    answer = _run(repository, copy, tests)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_it_is_the_copy_that_is_tested(copy: Path) -> None:
    """Installed or not, the source named first is imported."""
    program = "import ablatable, ablatable.errors; print(ablatable.errors.__file__)"
    answer = subprocess.run(
        [sys.executable, "-c", program], env=_environment(copy), capture_output=True, text=True, check=True
    )
    assert Path(answer.stdout.strip()) == copy / "ablatable" / "errors.py"
