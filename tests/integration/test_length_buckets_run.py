"""A whole run scored by length bucket: every number of the record made again from what the run left."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_runs import Run

from ablatable.config.dump import from_dict
from ablatable.data.dataset import Dataset, prepare
from ablatable.scoring.score import score
from ablatable.training.evaluate import batch_losses
from ablatable.training.load import load_run

BUCKETS = "evaluate.length_buckets=[6, 9, 12, 500]"


def _lengths(dataset: Dataset) -> list[int]:
    pairs = dataset.valid
    return [max(len(pairs.source(i)), len(pairs.target(i))) for i in range(len(pairs))]


def _by_hand(folder: Path, cache: Path, dataset: Dataset, chosen: list[int]) -> tuple[float, int]:
    """NLL and tokens of these sentences, one sentence a batch."""
    from ablatable.data.collate import collate

    model = load_run(folder, cache).model
    nll, tokens = 0.0, 0
    with torch.no_grad():
        for index in chosen:
            sums = batch_losses(model, collate(dataset.valid, np.array([index])), None)
            nll += float(sums.nll)
            tokens += sums.tokens
    return nll, tokens


def test_buckets_are_scored_by_themselves(run: Run, cache: Path) -> None:
    record, folder = run(BUCKETS, "evaluate.sentences=40")
    dataset = prepare(from_dict(record.config), cache)
    lengths = _lengths(dataset)
    hypotheses = (folder / "hypotheses.valid.txt").read_text(encoding="utf-8").splitlines()
    references = dataset.references("valid")
    inside = {"1-6": (0, 6), "7-9": (7, 9), "10-12": (10, 12), "13-500": (13, 500), "longer": (501, 10**6)}
    total, counted = 0.0, 0
    for bucket, (least, most) in inside.items():
        chosen = [i for i, length in enumerate(lengths) if least <= length <= most]
        translated = [i for i in chosen if i < 40]
        assert record.metric(f"valid.sentences.{bucket}") == len(translated)
        if bucket == "longer":
            assert not chosen
            continue
        nll, tokens = _by_hand(folder, cache, dataset, chosen)
        assert record.metric(f"valid.nll.{bucket}") == pytest.approx(nll / tokens, rel=1e-5)
        assert record.metric(f"valid.ppl.{bucket}") == pytest.approx(math.exp(nll / tokens), rel=1e-4)
        total, counted = total + nll, counted + tokens
        ours = score([hypotheses[i] for i in translated], [references[i] for i in translated], dataset.corpus.target)
        for name, metric in ours.items():
            assert record.metrics[f"valid.{name}.{bucket}"] == metric
    assert record.metric("valid.nll") == pytest.approx(total / counted, rel=1e-5), "sums and counts, not means of means"
    assert {name for name in record.metrics if name.endswith(".longer")} == {"valid.sentences.longer"}


def test_buckets_change_nothing_else_and_share_the_training(run: Run) -> None:
    plain, _ = run()
    record, _ = run(BUCKETS)
    assert record.id != plain.id
    assert {name: metric for name, metric in record.metrics.items() if name in plain.metrics} == plain.metrics
    assert not any(name.count(".") > 1 for name in plain.metrics)


def test_a_bucket_beyond_the_translated_sentences_has_a_likelihood_and_no_score(run: Run, cache: Path) -> None:
    """The first sentence alone is translated: the other buckets have tokens and no translation."""
    record, _ = run(BUCKETS, "evaluate.sentences=1")
    first = _lengths(prepare(from_dict(record.config), cache))[0]
    inside = {"1-6": first <= 6, "7-9": 7 <= first <= 9, "10-12": 10 <= first <= 12, "13-500": first > 12}
    for bucket, there in inside.items():
        assert record.metric(f"valid.sentences.{bucket}") == there
        assert record.metric(f"valid.ppl.{bucket}") is not None
        assert (record.metric(f"valid.bleu.{bucket}") is not None) == there
