"""Another process trains the same: nothing depends on hash seeds, addresses or what a library salts for itself.

Each process has caches of its own, so corpora, tokenizers and packed text are made anew too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
from pathlib import Path

import torch
from tiny_runs import numbers, tiny_job

from ablatable.training import keeper
from ablatable.training.run import execute

torch.set_num_threads(1)
root, cache, saves, *words = sys.argv[1:]
save, left = keeper.Keeper._save, int(saves)


def dying(*given, **named):
    global left
    made = save(*given, **named)
    left -= 1
    if not left:
        os._exit(9)
    return made


keeper.Keeper._save = dying
job = tiny_job(Path(root), Path(cache), *words)
record = execute(job)
print(numbers(record))
for split in job.experiment.evaluate.splits:
    print((job.folder / f"hypotheses.{split}.txt").read_text(encoding="utf-8"))
"""

NOISE = ["data.subword_sampling=0.2", "data.word_dropout=0.1", "data.word_swap=2"]
CHOICES = {
    "bpe": NOISE,
    "unigram": [
        "tokenizer.kind=unigram",
        "tokenizer.sharing=separate",
        "tokenizer.size=36",
        "model.tying=decoder",
        *NOISE,
    ],
    "wordpiece": ["tokenizer.kind=wordpiece", "data.corpus=toy-en-de", "tokenizer.size=200", "data.word_dropout=0.1"],
}


def trained(root: Path, cache: Path, hash_seed: int, *words: str, die_after: int = 0) -> str:
    """What a process of its own prints of a run."""
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root), str(cache), str(die_after), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == (9 if die_after else 0), ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_the_same_run_elsewhere_is_the_same(choice: str, tmp_path: Path) -> None:
    here = trained(tmp_path / "a" / "runs", tmp_path / "a" / "cache", 1, *CHOICES[choice])
    there = trained(tmp_path / "b" / "runs", tmp_path / "b" / "cache", 2, *CHOICES[choice])
    assert here == there


@pytest.mark.slow
def test_a_run_that_died_in_one_process_goes_on_in_another_as_if_it_had_not(tmp_path: Path) -> None:
    words = [*NOISE, "train.validate_every=7"]
    whole = trained(tmp_path / "whole", tmp_path / "cache", 1, *words)
    assert trained(tmp_path / "dead", tmp_path / "cache", 2, *words, die_after=2) == ""
    assert trained(tmp_path / "dead", tmp_path / "cache", 3, *words) == whole
