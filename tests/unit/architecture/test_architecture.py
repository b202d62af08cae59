"""The rules on who may import whom, and what starting up costs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HEAVY = (
    "torch",
    "pytorch_lightning",
    "lightning",
    "wandb",
    "optuna",
    "sentencepiece",
    "sacrebleu",
    "scipy",
    "matplotlib",
    "datasets",
)
"""What takes a second or more to import, or is not needed to read a table."""

LIGHT = (
    "config",
    "record",
    "study",
    "launch",
    "report",
    "cli",
    "nn/__init__.py",
    "nn/count.py",
    "nn/cost.py",
)
"""What `--help`, `plan`, `status` and `table` load."""


def modules(source: Path, part: str) -> Iterator[str]:
    path = source / part
    files = [path] if path.suffix else sorted(path.rglob("*.py"))
    for file in files:
        name = ".".join(file.relative_to(source.parent).with_suffix("").parts)
        yield name.removesuffix(".__init__")


def python(code: str, *, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture(scope="session")
def source(repository: Path) -> Path:
    return repository / "src" / "ablatable"


def test_imports_point_one_way(repository: Path) -> None:
    """Every contract of pyproject.toml holds (import-linter), and there are some."""
    answer = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", answer.stdout)


@pytest.mark.parametrize("part", LIGHT)
def test_what_answers_at_once_loads_nothing_heavy(part: str, source: Path) -> None:
    names = list(modules(source, part))
    assert names
    answer = python(
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        f"    found = [h for h in {HEAVY!r} if h in sys.modules]\n"
        "    if found: sys.exit(f'{name} imports {found}')\n"
    )
    assert answer.returncode == 0, answer.stderr


def test_the_check_above_can_fail() -> None:
    assert python("import sys, optuna\nif 'optuna' in sys.modules: sys.exit('seen')").stderr == "seen\n"


def test_packages_that_need_torch_have_empty_inits(source: Path) -> None:
    """So that `data.corpora` or a constant can be reached without loading the rest of a package."""
    for package in ("data", "training", "decoding", "scoring"):
        tree = ast.parse((source / package / "__init__.py").read_text(encoding="utf-8"))
        statements = [node for node in tree.body if not isinstance(node, ast.Expr)]
        assert not statements, f"{package}/__init__.py does something at import"


def test_every_silenced_check_has_its_reason_beside_it(source: Path) -> None:
    bare = re.compile(r"# (noqa(: [A-Z0-9, ]+)?|(type|pyright): ignore(\[[^\]]*\])?)\s*$")
    found = [
        f"{path.relative_to(source)}:{number}: {line.strip()}"
        for path in sorted(source.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if bare.search(line) or "TODO" in line or "FIXME" in line
    ]
    assert not found, "\n".join(found)
