from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ablatable.record.schema import CurvePoint, Hardware, Labels, Metric, Record, Stamp

STAMP = Stamp(
    git_commit="0123456789abcdef0123456789abcdef01234567",
    git_dirty_digest=None,
    code_digest="00aa11bb22cc33dd",
    packages={"torch": "2.13.0"},
    python="3.11.7",
    platform="Linux 6.1 x86_64",
    hardware=Hardware("a processor", 2, 8 * 2**30, []),
    threads=1,
    devices=1,
    corpus="toy-en-de",
    corpus_fingerprint="cccccccccccccccc",
    tokenizer_fingerprint="tttttttttttttttt",
    bleu_signature="nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    deterministic=True,
    command="ablatable run demo",
    started="2026-01-01T00:00:00Z",
    finished="2026-01-01T00:10:00Z",
)
RECORD = Record(
    id="00000000000000aa",
    labels=Labels("demo", "base", "cpu"),
    seed=1,
    config={"seed": 1, "model": {"layers": 2}, "evaluate": {"splits": ["valid"]}},
    status="completed",
    cause=None,
    metrics={"valid.ppl": Metric(9.5, "perplexity/piece"), "valid.bleu": Metric(15.25, "BLEU")},
    curve=[CurvePoint(100, 3.5, 3.7, 10.0, 9000, 9500), CurvePoint(200, 2.25, 2.5, 20.0, 18000, 19000)],
    parameters=1_400_000,
    source_tokens=18000,
    target_tokens=19000,
    updates=200,
    flops=1.5e13,
    wall_seconds=20.0,
    device_seconds=20.0,
    peak_memory_bytes=2**29,
    stamp=STAMP,
)


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """A complete record, with whatever a test says different."""

    def make(**changes: Any) -> Record:
        return replace(RECORD, **changes)

    return make
