"""The page that lists the whole design space is what the axes say, and the terminal shows the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.config.axis import Effect
from ablatable.config.layers import said
from ablatable.config.parts import parts
from ablatable.config.tree import leaves, values_of
from ablatable.report.design_space import render


def _printed(*words: str) -> str:
    answer = CliRunner().invoke(app, ["axes", *words], env={"COLUMNS": "100"})
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_the_committed_page_is_the_generated_one(repository: Path) -> None:
    committed = (repository / "docs" / "design-space.md").read_text(encoding="utf-8")
    assert committed == _printed("--format", "markdown"), "the axes have changed: write the page anew with `make docs`"


def test_the_page_has_every_key_value_source_and_effect() -> None:
    page = render().replace("\\|", "|")
    for path, leaf in leaves().items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{path}` | `"))
        assert leaf.description in row
        assert leaf.limits in row
        assert all(str(need) in row for need in leaf.needs)
        if leaf.axis is not None:
            assert all(effect in row for effect in leaf.axis.changes)
            assert all(said(value) in row for value in values_of(path))
            assert leaf.axis.section in row
            assert all(f"- `{value}`: {source}" in page for value, source in leaf.axis.choices.items())
    assert all(f"`{effect.value}`: {effect.meaning}" in page for effect in Effect)


def test_every_row_of_the_page_has_every_column() -> None:
    """A bar in a text would start a column of its own."""
    rows = [line for line in render().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}


def test_parts_hold_every_key_once_and_are_the_files_of_the_package(repository: Path) -> None:
    assert [leaf.path for part in parts() for leaf in part.leaves] == list(leaves())
    assert len({(part.section, part.name) for part in parts()}) == len(parts())
    for section, folder in (("model", "model"), ("train", "training")):
        names = {part.name for part in parts() if part.section == section}
        assert names
        files = {path.stem for path in (repository / "src/ablatable/config" / folder).glob("*.py")}
        assert names <= files


def test_the_overview_has_every_key_on_a_line_of_a_hundred_columns() -> None:
    lines = _printed().splitlines()
    assert max(map(len, lines)) <= 100
    shown = [line.split()[0] for line in lines if re.match(r"  [a-z]", line)]
    assert shown == list(leaves())


def test_one_choice_is_shown_with_the_source_of_each_value() -> None:
    shown = " ".join(_printed("model.position").split())
    axis = leaves()["model.position"].axis
    assert axis is not None
    assert all(f"{value} {source}" in shown for value, source in axis.choices.items())
    assert "needs model.architecture=transformer|convolutional" in shown
    assert "needed by model.position_combine" in shown


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tokenizer.sharing", "separate (with model.tying=decoder)"),
        ("model.d_ff", "sweep 128 to 4096, log"),
        ("model.d_ff", "bounds from 1 to 65536"),
        ("model.dropout", "bounds from 0 to below 1"),
        ("model.d_ff", "scale multiplied by width"),
        ("train.l1", "source Tibshirani 1996"),
        ("evaluate.splits", "default [valid]"),
        ("runtime.accelerator", "values auto | cpu | cuda"),
    ],
)
def test_facts_of_one_choice(path: str, expected: str) -> None:
    assert expected in " ".join(_printed(path).split())


def test_a_section_says_what_each_key_is() -> None:
    shown = " ".join(_printed("decode").split())
    assert all(leaf.description in shown for path, leaf in leaves().items() if path.startswith("decode."))


def test_json_has_every_value() -> None:
    data = {entry["path"]: entry for entry in json.loads(_printed("--format", "json"))}
    assert list(data) == list(leaves())
    assert all(entry["values"] == list(values_of(path)) for path, entry in data.items())
    assert data["model.d_ff"]["search"] == [128, 4096, "log"]


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    answer = CliRunner().invoke(app, ["axes", "model.possition"])
    assert answer.exit_code != 0
    assert "model.position" in str(answer.exception)
