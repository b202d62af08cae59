"""What the harness adds to a training step, against a loop written by hand over the same parts.

Both train the same model on the same stream of batches with the same optimiser, in turns, in one process; the middle
of the step times is compared. Run: ``python benchmarks/harness_overhead.py``.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.data.dataset import Dataset, prepare
from ablatable.nn.build import build_model
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.training import fit as fitting
from ablatable.training.evaluate import batch_losses
from ablatable.training.loss import Smoothing
from ablatable.training.module import TranslationModule, noise_seed, seed_noise
from ablatable.training.schedule import learning_rate
from ablatable.training.stream import UpdateStream

SETTINGS = [
    "data.corpus=synthetic-copy",
    "data.train_pairs=2000",
    "tokenizer.size=48",
    "model.layers=1",
    "model.heads=2",
    "train.batch_tokens=128",
    "train.validate_every=100000",
    "tracking.wandb=off",
]


def by_hand(job: Job, data: Dataset) -> list[float]:
    """Seconds of each step of the plain loop."""
    experiment = job.experiment
    train = experiment.train
    model = build_model(experiment.model, data.source_tokenizer.size, data.target_tokenizer.size, 1).train()
    optimizer = torch.optim.Adam(
        model.parameters(), betas=(train.beta1, train.beta2), eps=train.adam_epsilon, fused=True
    )
    times: list[float] = []
    stream = iter(UpdateStream(data.train, batch_tokens=train.batch_tokens, accumulate=1, micro_batches=1, seed=1))
    for update in range(1, train.updates + 1):
        start = time.perf_counter()
        item = next(stream)
        seed_noise(torch.device("cpu"), noise_seed(1, update, 0, 0))
        sums = batch_losses(model, item.batch, Smoothing(train.label_smoothing))
        optimizer.zero_grad()
        (sums.smoothed / item.update_tokens).backward()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(update, train, experiment.model.d_model)
        optimizer.step()
        times.append(time.perf_counter() - start)
    return times


def by_harness(job: Job, data: Dataset) -> list[float]:
    """Seconds from one training step to the next inside the Trainer."""
    stamps: list[float] = []
    step = TranslationModule.training_step

    def stamped(self: TranslationModule, item: Any, batch_idx: int) -> Any:
        stamps.append(time.perf_counter())
        return step(self, item, batch_idx)

    TranslationModule.training_step = stamped
    try:
        fitting.fit(job, data)
    finally:
        TranslationModule.training_step = step
    return [later - earlier for earlier, later in itertools.pairwise(stamps)]


def main() -> None:
    """Take turns and print the middle step times in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=600)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--width", type=int, nargs="*", default=[16, 128])
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    for width in chosen.width:
        words = [*SETTINGS, f"model.d_model={width}", f"model.d_ff={4 * width}", f"train.updates={chosen.updates}"]
        experiment = load_experiment("base", words)
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            data = prepare(experiment, cache)
            hand: list[float] = []
            harness: list[float] = []
            for turn in range(chosen.turns):
                id = run_id(experiment, data.corpus.fingerprint)
                job = Job(experiment, id, Labels(), cache / f"turn-{turn}" / id, cache)
                hand.append(statistics.median(by_hand(job, data)) * 1000)
                harness.append(statistics.median(by_harness(job, data)) * 1000)
        extra = [b - a for a, b in zip(hand, harness, strict=True)]
        print(
            f"d_model {width}: by hand {statistics.median(hand):.2f} ms, harness {statistics.median(harness):.2f} ms, "
            f"overhead {statistics.median(extra):+.2f} ms (turns {min(extra):+.2f} to {max(extra):+.2f})"
        )


if __name__ == "__main__":
    main()
