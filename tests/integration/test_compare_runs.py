"""`ablatable runs` and `ablatable compare` over what real (tiny) trainings leave."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import Run
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.errors import InputError
from ablatable.scoring.significance import paired_bootstrap


def answer(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def data(*arguments: str) -> dict[str, Any]:
    return json.loads(answer(*arguments, "--format", "json"))


def test_two_real_runs(run: Run, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ABLATABLE_CACHE", str(cache))
    (base, folder), (rope, other) = run(study="mine"), run("model.position=rope", "train.updates=32")

    listed = data("runs", "model.position=rope", "updates>=32", "model.d_k=8")["runs"]
    assert [entry["id"] for entry in listed] == [rope.id]
    assert listed[0]["valid.bleu"] == rope.metric("valid.bleu")

    made = data("compare", base.id, str(other), "--bootstrap", "200")
    assert [column["ids"] for column in made["columns"]] == [[base.id], [rope.id]]
    settings = {line["path"]: line["values"] for line in made["settings"]}
    assert settings == {
        "model.position": ["sinusoidal", "rope"],
        "model.position_combine": ["add", "inactive"],
        "train.updates": [24, 32],
    }
    assert made["notes"] == []
    lines = {line["key"]: line for line in made["metrics"]}
    gap = rope.metrics["valid.nll"].value - base.metrics["valid.nll"].value
    assert lines["valid.nll"]["differences"][1]["value"] == pytest.approx(gap)
    assert [point["update"] for point in made["curves"][0]["points"]] == [8, 16, 24]

    corpus = next((cache / "corpora").glob("synthetic-copy*"))
    references = (corpus / "valid.yy").read_text(encoding="utf-8").split("\n")[:12]
    systems = [
        (place / "hypotheses.valid.txt").read_text(encoding="utf-8").split("\n")[:-1] for place in (folder, other)
    ]
    by_hand = paired_bootstrap(*systems, references, samples=200, measure="chrf")
    (found,) = (line for line in made["tests"] if line["metric"] == "valid.chrf" and line["test"] == "paired bootstrap")
    assert found["p"] == by_hand.p_value
    assert (found["low"], found["high"]) == (by_hand.low, by_hand.high)
    for sentence in made["sentences"]:
        assert sentence["reference"] == references[sentence["number"] - 1]
        assert sentence["hypotheses"] == [lines[sentence["number"] - 1] for lines in systems]

    assert "### Learning curves" in answer("compare", "mine/row", rope.id[:8])
    shutil.rmtree(other / "checkpoints", ignore_errors=True)
    (other / "record.json").unlink()
    assert [entry["status"] for entry in data("runs", f"id={rope.id}")["runs"]] == ["interrupted"]
    with pytest.raises(InputError, match="was stopped before it finished"):
        answer("compare", base.id, rope.id)


def test_another_tokenizer_is_said(run: Run, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ABLATABLE_CACHE", str(cache))
    (base, _), (other, _) = (
        run("train.updates=8"),
        run("train.updates=8", "tokenizer.kind=character", "tokenizer.size=90"),
    )
    made = data("compare", base.id, other.id)
    assert "do not share their pieces" in made["notes"][0]
    lines = {line["key"]: line["differences"][1] for line in made["metrics"]}
    assert lines["valid.ppl"] is None
    assert lines["valid.nll"] is None
    assert lines["valid.chrf"] is not None
    notes = data("runs", "ppl>0")["notes"]
    assert notes[0].startswith("valid.ppl: these rows do not share corpus and tokenizer")
