from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ablatable.cli.corpus import app
from ablatable.config.catalogue import CORPORA, NEEDS
from ablatable.errors import InputError

_RUNNER = CliRunner()


def test_list_names_every_corpus_and_its_state() -> None:
    rows = json.loads(_RUNNER.invoke(app, ["list", "--format", "json"]).stdout)
    assert [row["name"] for row in rows] == list(CORPORA)
    states = {row["name"]: row["state"] for row in rows}
    assert states["lohelp-en-de"] == "to be fetched"
    assert states["toy-en-de"] == "to be made"
    assert states["wmt14-en-de"] == "to be fetched"
    assert states["files"] == "your files"


def test_list_groups_by_what_they_need() -> None:
    lines = _RUNNER.invoke(app, ["list"]).stdout.splitlines()
    groups: dict[str, list[str]] = {}
    heading = ""
    for line in lines:
        if line.startswith("  "):
            groups[heading].append(line.split()[0])
        else:
            heading = line.removesuffix(":")
            groups[heading] = []
    assert groups == {
        meaning: [name for name, entry in CORPORA.items() if entry.needs == needs] for needs, meaning in NEEDS.items()
    }
    assert groups[NEEDS["apt"]] == [
        "lohelp-en-de", "lohelp-en-fr", "ding-en-de", "manpages-en-de", "debian-descriptions-en-de", "debian-en-de"
    ]  # fmt: skip
    assert all(CORPORA[name].summary in "\n".join(lines) for name in CORPORA)


def test_get_prints_the_card_and_examples() -> None:
    first = _RUNNER.invoke(app, ["get", "synthetic-copy"])
    assert first.exit_code == 0
    assert "fingerprint  2291839859fde6eb" in first.stdout
    assert "train           20,000" in first.stdout
    assert first.stdout.count("  xx  ") == first.stdout.count("  yy  ") == 3
    assert "making" not in first.stdout
    assert "making" in first.stderr
    rows = json.loads(_RUNNER.invoke(app, ["list", "--format", "json"]).stdout)
    assert {row["name"]: row["state"] for row in rows}["synthetic-copy"] == "in the cache"


def test_get_as_json_is_the_card_and_its_folder() -> None:
    card = json.loads(_RUNNER.invoke(app, ["get", "synthetic-sort", "--format", "json"]).stdout)
    assert card["splits"]["test"]["pairs"] == 500
    assert (Path(card["folder"]) / "train.xx").is_file()


def test_get_files_takes_their_paths(tmp_path: Path) -> None:
    settings = ["files_languages=en-de"]
    for split in ("train", "valid"):
        for side in ("source", "target"):
            path = tmp_path / f"{split}.{side}"
            path.write_text(f"{split} {side} text\n", encoding="utf-8")
            settings.append(f"files_{side}_{split}={path}")
    result = _RUNNER.invoke(app, ["get", "files", *settings])
    assert result.exit_code == 0, result.output
    assert "train text" not in result.stdout
    assert "  en  valid source text" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get", "lohelp"], "did you mean"),
        (["get", "files"], "files_languages"),
        (["get", "toy-en-de", "files_languages=en-de"], "only the corpus 'files' takes settings"),
        (["get", "files", "files_langauges=en-de"], "unknown key"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], message: str) -> None:
    result = _RUNNER.invoke(app, arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_benchmark_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    result = _RUNNER.invoke(app, ["get", "wmt14-en-de"])
    assert isinstance(result.exception, InputError)
    assert "pip install 'ablatable[hub]'" in str(result.exception)
    assert "\n" not in str(result.exception)
