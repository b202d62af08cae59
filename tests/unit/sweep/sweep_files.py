"""The sweep file that tests spoil."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ablatable.study.sweep.load import Plan

SWEEP: dict[str, Any] = {
    "name": "s",
    "title": "A search",
    "experiment": "base",
    "fixed": {"data.corpus": "synthetic-copy", "tracking.wandb": "off"},
    "space": {"train.warmup": {"low": 10, "high": 1000, "log": True}, "model.heads": {"values": [1, 2, 4]}},
    "objectives": [{"metric": "nll"}],
    "sampler": {"kind": "random"},
    "budget": {"trials": 8},
}

MakeSweep = Callable[..., Plan]
