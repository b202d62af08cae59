"""What is installed, pinned, imported and written about agrees."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

MODULES = {
    "pyyaml": "yaml",
    "pytorch-lightning": "pytorch_lightning",
    "jinja2": "jinja2",
    "pillow": "PIL",
    "wandb-workspaces": "wandb_workspaces",
}
"""Packages whose module has another name."""


@pytest.fixture(scope="module")
def requirements(repository: Path) -> list[Requirement]:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    development = project["optional-dependencies"]["dev"]
    return [Requirement(line) for line in (*project["dependencies"], *development)]


@pytest.fixture(scope="module")
def pins(repository: Path) -> dict[str, Version]:
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def test_every_requirement_is_pinned_inside_its_range(
    requirements: list[Requirement], pins: dict[str, Version]
) -> None:
    wrong = [
        str(need)
        for need in requirements
        if (pin := pins.get(canonicalize_name(need.name))) is None or pin not in need.specifier
    ]
    assert not wrong


def test_pins_work_with_every_index(pins: dict[str, Version]) -> None:
    """A local version such as 2.13.0+cpu exists on one index only."""
    assert pins["torch"] == Version("2.13.0")
    assert not [name for name, version in pins.items() if version.local]


def test_everything_imported_is_declared(requirements: list[Requirement], repository: Path) -> None:
    declared = {MODULES.get(canonicalize_name(need.name), need.name) for need in requirements}
    imported: dict[str, Path] = {}
    for path in sorted((repository / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0]: path for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported[node.module.partition(".")[0]] = path
    foreign = {
        name: path.name
        for name, path in imported.items()
        if name not in sys.stdlib_module_names and name not in declared | {"ablatable", "datasets"}
    }
    assert not foreign


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_commands_written_about_exist(page: str, repository: Path) -> None:
    """Each `ablatable ...` in a page names a command, options, studies and scales there are."""
    from typer.main import get_command

    from ablatable.cli.main import app
    from ablatable.config.locate import known

    commands = get_command(app).commands  # type: ignore[attr-defined] # typer's group, untyped in its stub
    text = (repository / page).read_text(encoding="utf-8")
    lines = re.findall(r"^ablatable .*$", text, re.MULTILINE) + re.findall(r"`(ablatable [^`]+)`", text)
    assert lines
    for line in lines:
        _, name, *words = shlex.split(line, comments=True)
        assert name in commands, line
        command = commands[name]
        within = getattr(command, "commands", {})  # of `sweep`, `wandb` and the like
        if within:
            assert words[0] in within, line
            command = within[words[0]]
        options = {option for parameter in command.params for option in parameter.opts}
        for word, following in itertools.pairwise([*words, ""]):
            if word.startswith("--"):
                assert word in options, line
            if word == "--scale" and following.islower():
                assert following in known("experiments/scales"), line
        if name in {"plan", "run", "status", "table", "publish"} and words and words[0].islower():
            assert words[0] in known("ablations"), line


def test_make_targets_written_about_exist(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        text = (repository / page).read_text(encoding="utf-8")
        named = re.findall(r"(?:^|`|section .*)make (?:--no-print-directory )?([a-z-]+)", text, re.MULTILINE)
        assert named, page
        assert set(named) <= targets, page
