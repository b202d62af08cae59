"""A record as a finished run leaves it, and a study file to spoil."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ablatable.cli.plan import plan
from ablatable.cli.publish import publish
from ablatable.cli.status import status
from ablatable.config.dump import to_dict
from ablatable.config.identity import run_id
from ablatable.config.schema import Experiment
from ablatable.record.schema import Hardware, Labels, Metric, Record, Stamp, Status

MakeRecord = Callable[..., Record]


@pytest.fixture
def make_record() -> MakeRecord:
    def make(
        experiment: Experiment,
        fingerprint: str,
        *,
        status: Status = "completed",
        cause: str | None = None,
        ppl: float = 10.0,
        bleu: float = 15.0,
        flops: float = 2.0e12,
        device_seconds: float = 100.0,
        finished: str = "2026-01-02T03:04:05Z",
        updates: int | None = None,
    ) -> Record:
        metrics = {
            "valid.nll": Metric(2.3, "nats/token"),
            "valid.ppl": Metric(ppl, "perplexity/token"),
            "valid.bleu": Metric(bleu, "BLEU", "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"),
        }
        return Record(
            id=run_id(experiment, fingerprint),
            labels=Labels("a-study", "a-row", "a-scale"),
            seed=experiment.seed,
            config=to_dict(experiment),
            status=status,
            cause=cause,
            metrics=metrics if status == "completed" else {},
            curve=[],
            parameters=1_644_544,
            source_tokens=2_000_000,
            target_tokens=2_100_000,
            updates=experiment.train.updates if updates is None else updates,
            flops=flops,
            wall_seconds=device_seconds,
            device_seconds=device_seconds,
            peak_memory_bytes=10**9,
            stamp=Stamp(
                git_commit="0" * 40,
                git_dirty_digest=None,
                code_digest="0123456789abcdef",
                packages={"torch": "2.13.0"},
                python="3.11.7",
                platform="Linux x86_64",
                hardware=Hardware("a processor", 2, 8 * 10**9, []),
                threads=1,
                devices=1,
                corpus=experiment.data.corpus,
                corpus_fingerprint=fingerprint,
                tokenizer_fingerprint="fedcba9876543210",
                bleu_signature=None,
                deterministic=True,
                command="ablatable run a-study",
                started="2026-01-02T03:00:00Z",
                finished=finished,
            ),
        )

    return make


TINY = """\
name: tiny
title: A small table
baseline: base
columns:
  - {label: h, path: model.heads}
  - {label: PPL, metric: ppl, better: lower, reported: ppl}
  - {label: BLEU, metric: bleu, digits: 1, better: higher, reported: bleu}
groups:
  - {id: A, label: "(A)"}
rows:
  - name: base
    reported: {ppl: 4.92, bleu: 25.8}
  - name: h=1
    group: A
    set: {model.heads: 1}
  - name: N=2
    set: {model.layers: 2}
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of three rows in a folder of its own, which is also where results/ goes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ablations" / "tiny.yaml"
    path.parent.mkdir()
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture
def invoke() -> Callable[..., str]:
    """Run one of this area's commands and return what it prints; its errors are raised."""
    app = typer.Typer()
    for command in (plan, status, publish):
        app.command()(command)

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, list(words), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return run
