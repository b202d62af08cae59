"""What a run will cost, before it is run: parameters, tokens, FLOPs, time and disk."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ablatable.config.schema import Experiment
from ablatable.record.schema import Record

STATED_SPEEDS = {"cpu-thread": 0.04e12, "P100": 2.8e12}
"""FLOP/s one device is taken to reach where nothing was measured, in the convention of `nn.cost`.

P100: what the paper's base run reached (12 h on 8 of them, section 5.2); the paper credits each with 9.5e12.
CPU thread: a guess, fp32 and a small model."""

_BYTES_PER_WEIGHT = 4
_STATE_COPIES = 3
"""Weights and Adam's two moments, all fp32, in a checkpoint a run can resume from."""


@dataclass(frozen=True)
class Cost:
    """One run's size. Tokens are those of full batches: padding counts, real text is a few percent less."""

    parameters: int
    source_tokens: int
    target_tokens: int
    flops: float
    disk_bytes: int
    """What stays on disk when the run has finished."""
    working_disk_bytes: int
    """What it holds at most while it trains."""


@dataclass(frozen=True)
class Speed:
    """FLOP/s of one device, and what that figure is based on."""

    flops_per_second: float
    basis: str
    measured: bool


def cost_of(experiment: Experiment) -> Cost:
    """Cost of one run by closed forms; needs neither torch nor the corpus.

    The vocabulary is taken at its full `tokenizer.size`; a corpus too small for it yields fewer pieces.
    """
    from ablatable.nn.cost import training_flops
    from ablatable.nn.count import parameter_count

    vocabulary = experiment.tokenizer.most_pieces
    parameters = parameter_count(experiment.model, vocabulary, vocabulary)
    train = experiment.train
    source = target = train.updates * train.batch_tokens * train.accumulate
    if train.max_target_tokens is not None and train.max_target_tokens < target:
        source = target = train.max_target_tokens
    weights = parameters * _BYTES_PER_WEIGHT
    state = weights * _STATE_COPIES
    averages = train.average_last + (2 if experiment.evaluate.checkpoint == "ema" else 0)
    kept = weights + (state if experiment.runtime.keep_checkpoints else 0)
    return Cost(
        parameters=parameters,
        source_tokens=source,
        target_tokens=target,
        flops=training_flops(experiment.model, vocabulary, source, target),
        disk_bytes=kept,
        working_disk_bytes=weights * (averages + 1) + 2 * state,
    )


def speed_for(experiment: Experiment, scale: str, finished: Iterable[Record], device: str | None) -> Speed:
    """The speed to expect: measured on this table's finished runs at this scale, else a stated one.

    Args:
        experiment: the baseline at this scale.
        scale: its name; the paper's size is priced in the paper's P100s.
        finished: completed records of the same table at the same scale.
        device: a key of `STATED_SPEEDS` to price with, whatever was measured.
    """
    if device is None:
        measured = [
            record.flops / record.device_seconds
            for record in finished
            if record.flops > 0 and record.device_seconds > 0 and record.trained_by is None
        ]
        if measured:
            speed = statistics.median(measured)
            runs = f"{len(measured)} finished run" + ("s" if len(measured) > 1 else "")
            return Speed(speed, f"measured on {runs} of this table: {speed / 1e12:.3g} TFLOP/s a device", True)
    name = device or _usual_device(experiment, scale)
    speed = STATED_SPEEDS[name] * (experiment.runtime.threads if name == "cpu-thread" else 1)
    threads = experiment.runtime.threads
    what = f"{threads} CPU thread{'s' if threads > 1 else ''}" if name == "cpu-thread" else f"one {name}"
    return Speed(speed, f"stated, not measured: {what} at {speed / 1e12:.3g} TFLOP/s", False)


def _usual_device(experiment: Experiment, scale: str) -> str:
    accelerator = experiment.runtime.accelerator
    if accelerator == "cpu":
        return "cpu-thread"
    if scale == "paper" or accelerator == "cuda" or Path("/dev/nvidia0").exists():
        return "P100"
    return "cpu-thread"
