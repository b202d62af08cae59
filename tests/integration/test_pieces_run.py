"""Whole tiny runs with other tokenizers and with an augmented training text."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import Stopped

from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.data.dataset import Dataset, prepare
from ablatable.record.job import Job
from ablatable.record.schema import Labels, Record
from ablatable.training import keeper
from ablatable.training.checkpoint import load_weights
from ablatable.training.run import execute

TINY = [
    "data.corpus=synthetic-copy",
    "data.train_pairs=200",
    "model.layers=1",
    "model.d_model=32",
    "model.d_ff=32",
    "model.heads=2",
    "train.updates=20",
    "train.batch_tokens=256",
    "train.warmup=20",
    "train.validate_every=7",
    "evaluate.sentences=4",
    "decode.beam=1",
    "tracking.wandb=off",
]


def run(root: Path, cache: Path, *words: str) -> tuple[Record, Path, Dataset]:
    experiment = load_experiment("base", [*TINY, *words])
    dataset = prepare(experiment, cache)
    id = run_id(experiment, dataset.corpus.fingerprint)
    folder = root / id
    return execute(Job(experiment, id, Labels(None, None, None), folder, cache)), folder, dataset


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (["tokenizer.kind=word", "tokenizer.size=20"], 20),
        (["tokenizer.kind=character", "tokenizer.size=1000"], 31),
        (["tokenizer.kind=byte"], 260),
        (["tokenizer.kind=wordpiece", "tokenizer.size=30"], 30),
    ],
)
def test_every_kind_trains_and_says_what_it_knows(tmp_path: Path, cache: Path, words: list[str], size: int) -> None:
    """TOK-01: the record holds the size there is. Unknown pieces and bits per character are counted here anew."""
    record, folder, dataset = run(tmp_path, cache, *words)
    assert record.status == "completed"
    measured = {name: metric.value for name, metric in record.metrics.items()}
    assert measured["source_vocabulary"] == measured["target_vocabulary"] == size
    references = dataset.references("valid")
    pieces = [index for line in references for index in dataset.target_tokenizer.encode(line)]
    assert measured["valid.oov_target"] == pytest.approx(pieces.count(1) / len(pieces))
    assert (measured["valid.oov_target"] > 0) == (size == 20)
    characters = sum(len(line) for line in references) + len(references)
    bits = measured["valid.nll"] * (len(pieces) + len(references)) / math.log(2)
    assert measured["valid.bpc"] == pytest.approx(bits / characters, rel=1e-6)
    assert record.metrics["valid.bpc"].unit == "bits/character"
    assert record.metrics["valid.oov_source"].unit == "fraction"
    assert len((folder / "hypotheses.valid.txt").read_text(encoding="utf-8").split("\n")) == 5


def test_an_augmented_run_stopped_in_mid_epoch_goes_on_as_if_never_stopped(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["tokenizer.size=48", "data.subword_sampling=0.2", "data.word_dropout=0.1", "data.word_swap=2"]
    whole, folder, _ = run(tmp_path / "whole", cache, *words)
    save = keeper.Keeper._save
    saves = 0

    def save_and_stop(self: keeper.Keeper, trainer: Any) -> None:
        nonlocal saves
        save(self, trainer)
        saves += 1
        if saves == 2:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_save", save_and_stop)
        with pytest.raises(Stopped):
            run(tmp_path / "stopped", cache, *words)
    resumed, other, _ = run(tmp_path / "stopped", cache, *words)
    assert resumed.metrics == whole.metrics
    assert [point.train_nll for point in resumed.curve] == [point.train_nll for point in whole.curve]
    assert (resumed.source_tokens, resumed.target_tokens) == (whole.source_tokens, whole.target_tokens)
    weights, others = (load_weights(at / "checkpoints" / "evaluated.pt") for at in (folder, other))
    assert all(weights[name].equal(others[name]) for name in weights)


def test_augmentation_leaves_validation_alone_and_changes_training(tmp_path: Path, cache: Path) -> None:
    plain = load_experiment("base", [*TINY, "tokenizer.size=48"])
    noisy = load_experiment("base", [*TINY, "tokenizer.size=48", "data.subword_sampling=0.3", "data.word_dropout=0.1"])
    first, second = prepare(plain, cache), prepare(noisy, cache)
    assert first.valid.source_side.ids.tolist() == second.valid.source_side.ids.tolist()
    assert first.tokenizer_fingerprint == second.tokenizer_fingerprint
    assert run_id(plain, "f" * 16) != run_id(noisy, "f" * 16)
