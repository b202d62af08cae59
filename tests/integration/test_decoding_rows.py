"""A table over one checkpoint: rows that differ only in search, evaluation or averaging share one training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.locate import cache_folder, find
from ablatable.launch.study import run_study
from ablatable.record.events import read_events
from ablatable.record.job import Job
from ablatable.record.schema import Labels, Record
from ablatable.study.families import shared_trainings
from ablatable.study.gather import Expected, expected
from ablatable.study.plan import plan_study
from ablatable.training.run import execute

STUDY = """
name: searches
title: Searches
baseline: base
split: valid
columns:
  - {label: beam, path: decode.beam}
  - {label: BLEU, metric: bleu}
rows:
  - {name: base}
  - {name: greedy, set: {decode.beam: 1}}
  - {name: short, set: {decode.length_penalty: 0.0}}
  - {name: mean-3, set: {train.average_last: 3, train.average_every: 10}}
  - {name: mean-2, set: {train.average_last: 2, train.average_every: 10}}
  - {name: best, set: {evaluate.checkpoint: best}}
  - {name: ema, set: {evaluate.checkpoint: ema}}
  - {name: ema-greedy, set: {evaluate.checkpoint: ema, decode.beam: 1}}
  - {name: one-head, set: {model.heads: 1}}
  - {name: one-head-greedy, set: {model.heads: 1, decode.beam: 1}}
"""

SCALE = """
title: seconds
set:
  model.layers: 1
  model.d_model: 32
  model.d_ff: 64
  data.corpus: synthetic-copy
  data.train_pairs: 1000
  data.max_length: 20
  tokenizer.size: 48
  train.batch_tokens: 512
  train.updates: 40
  train.validate_every: 20
  evaluate.sentences: 10
  tracking.wandb: "off"
"""


class Silent:
    """Shows nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def workspace(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ablations").mkdir()
    (tmp_path / "experiments" / "scales").mkdir(parents=True)
    (tmp_path / "ablations" / "searches.yaml").write_text(STUDY)
    (tmp_path / "experiments" / "scales" / "tiny.yaml").write_text(SCALE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ABLATABLE_CACHE", str(cache))
    monkeypatch.delenv("ABLATABLE_RUNS", raising=False)
    assert find("ablations", "searches").resolve().parent.parent == tmp_path.resolve()
    return tmp_path


def launch() -> tuple[Expected, dict[str, Record]]:
    done = run_study("searches", "tiny", 1, slots=2, retry_failed=False, progress=Silent, say=lambda _: None)
    assert done.exit_code == 0, [ended.cause for ended in done.outcome.ended]
    found = done.expected
    return found, {row.row.name: found.store.read(row.ids[0]) for row in found.rows}


def trained(found: Expected, record: Record) -> bool:
    return any(event["kind"] == "train" for event in read_events(found.store.folder(record.id) / "events.jsonl"))


def numbers(record: Record) -> dict[str, Any]:
    return {
        "metrics": record.metrics,
        "curve": [(point.update, point.valid_nll, point.train_nll) for point in record.curve],
        "tokens": (record.source_tokens, record.target_tokens),
        "flops": record.flops,
    }


@pytest.mark.slow
def test_a_table_of_searches_trains_once_and_reports_what_separate_trainings_would(workspace: Path) -> None:
    found, records = launch()
    trainers = {name for name, record in records.items() if trained(found, record)}
    assert trainers == {"mean-3", "ema", "one-head"}, "no other training keeps the average of every update"
    assert {name: record.trained_by for name, record in records.items() if name not in trainers} == {
        **dict.fromkeys(("base", "greedy", "short", "mean-2", "best"), records["mean-3"].id),
        "ema-greedy": records["ema"].id,
        "one-head-greedy": records["one-head"].id,
    }
    assert not list((workspace / "runs").glob("*/checkpoints/last.ckpt")), "training states were left behind"
    assert not list((workspace / "runs").glob("*/checkpoints/average-*.pt"))
    for row in found.rows:
        alone = Job(
            row.experiments[0],
            row.ids[0],
            Labels(),
            (workspace / "alone" / row.ids[0]).absolute(),
            cache_folder(),
        )
        assert numbers(execute(alone)) == numbers(records[row.row.name]), row.row.name


@pytest.mark.slow
def test_a_search_added_to_a_finished_table_trains_nothing(workspace: Path) -> None:
    study = workspace / "ablations" / "searches.yaml"
    study.write_text(STUDY.split("  - {name: greedy")[0])
    launch()
    study.write_text(STUDY.split("  - {name: short")[0])
    planned = expected("searches", "tiny", 1)
    shared = shared_trainings(planned.rows, planned.fingerprint, planned.store)
    plan = plan_study(planned.study, planned.scale, planned.rows, planned.store, trained_by=shared)
    assert [row.trained_by for row in plan.rows] == [None, "base"]
    assert plan.to_do.flops == 0
    found, records = launch()
    assert not trained(found, records["greedy"])
    assert records["greedy"].trained_by == records["base"].id
    assert records["greedy"].trainer_code == records["base"].stamp.code
    assert records["base"].trainer_code is None
    assert numbers(records["greedy"])["curve"] == numbers(records["base"])["curve"]


DIVERGING = """
name: searches
title: Searches
baseline: base
split: valid
columns:
  - {label: BLEU, metric: bleu}
rows:
  - {name: base}
  - {name: greedy, set: {decode.beam: 1}}
"""


@pytest.mark.slow
def test_a_failed_training_fails_all_it_serves_and_is_not_repeated(workspace: Path) -> None:
    (workspace / "ablations" / "searches.yaml").write_text(DIVERGING)
    scale = workspace / "experiments" / "scales" / "tiny.yaml"
    # A unit that is never active has no gradient, and Adam without memory or epsilon divides zero by zero.
    scale.write_text(
        SCALE
        + "  train.learning_rate_factor: 1000.0\n  train.warmup: 1\n  train.beta1: 0.0\n  train.beta2: 0.0\n"
        + "  train.adam_epsilon: 1.0e-60\n"
    )
    done = run_study("searches", "tiny", 1, slots=2, retry_failed=False, progress=Silent, say=lambda _: None)
    first, second = (done.expected.store.read(row.ids[0]) for row in done.expected.rows)
    assert (first.status, second.status) == ("failed", "failed")
    assert second.cause == f"run {first.id}, which trains for it, failed: {first.cause}"
    assert not trained(done.expected, second)


@pytest.mark.slow
def test_best_is_served_after_the_training_state_is_gone_and_what_was_half_taken_is_taken_anew(workspace: Path) -> None:
    study = workspace / "ablations" / "searches.yaml"
    study.write_text(STUDY.split("  - {name: greedy")[0])
    _, before = launch()
    study.write_text(STUDY.split("  - {name: greedy")[0] + "  - {name: best, set: {evaluate.checkpoint: best}}\n")
    id = expected("searches", "tiny", 1).rows[1].ids[0]
    half = workspace / "runs" / id / "checkpoints"
    half.mkdir(parents=True)
    (half / "trained_by").write_text(f"{before['base'].id}\nbest.pt")  # killed between the note and the link
    found, records = launch()
    assert records["best"].trained_by == before["base"].id
    assert not trained(found, records["best"])


@pytest.mark.slow
def test_checkpoints_a_run_was_asked_to_keep_outlive_a_table(workspace: Path) -> None:
    scale = workspace / "experiments" / "scales" / "tiny.yaml"
    scale.write_text(SCALE + "  runtime.keep_checkpoints: true\n")
    (workspace / "ablations" / "searches.yaml").write_text(STUDY.split("  - {name: greedy")[0])
    found, records = launch()
    scale.write_text(SCALE)
    launch()
    assert (found.store.folder(records["base"].id) / "checkpoints" / "last.ckpt").is_file()
