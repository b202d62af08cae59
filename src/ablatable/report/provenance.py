"""Where numbers come from: how much was run, by which code, on which machines, with which software."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ablatable.record.schema import Code, Record, Stamp
from ablatable.report.trained_elsewhere import training_code

_NOT_RECORDED = "not recorded"


def provenance(done: Sequence[Record]) -> list[str]:
    """Two notes on these records: their number, cost and code; machines and software."""
    if not done:
        return ["No run has completed yet."]
    stamps = [record.stamp for record in done]
    hours = sum(record.device_seconds for record in done) / 3600
    trained_with = [training_code(record) for record in done]
    digests = Counter(code.code_digest if code else _NOT_RECORDED for code in trained_with)
    code = f"code {_counted(digests)}, commit {_several({_commit(code) for code in trained_with})}"
    warning = " Rows were trained by different versions of the code." if len(digests) > 1 else ""
    loose = "" if all(stamp.deterministic for stamp in stamps) else " Not every run is repeatable bit for bit."
    searched_with = Counter(record.stamp.code_digest for record in done if record.trained_by is not None)
    shared = (
        f" {searched_with.total()} of the runs searched with weights that another run trained, with code "
        f"{_counted(searched_with)}."
        if searched_with
        else ""
    )
    return [
        f"{len(done)} run{'s' if len(done) > 1 else ''}, {hours:.2f} device-hours, "
        f"{sum(record.flops for record in done if record.trained_by is None):.2e} FLOPs. "
        f"Trained by {code}.{shared}{warning}{loose}",
        f"Machine: {_several({_machine(stamp) for stamp in stamps})}. "
        f"Software: {_several({_software(stamp) for stamp in stamps})}.",
    ]


def _commit(code: Code | None) -> str:
    if code is None:
        return _NOT_RECORDED
    if code.git_commit is None:
        return "unknown (no git checkout)"
    changed = f" with local changes {code.git_dirty_digest}" if code.git_dirty_digest is not None else ""
    return code.git_commit[:12] + changed


def _machine(stamp: Stamp) -> str:
    hardware = stamp.hardware
    gpus = f", {', '.join(hardware.gpus)}" if hardware.gpus else ""
    gibibytes = hardware.memory_bytes / 2**30
    return (
        f"{hardware.cpu}, {hardware.cores} cores, {gibibytes:.0f} GiB{gpus}; a run on {stamp.devices} "
        f"device{'s' if stamp.devices > 1 else ''}, {stamp.threads} thread{'s' if stamp.threads > 1 else ''}"
    )


def _software(stamp: Stamp) -> str:
    shown = ("torch", "pytorch-lightning", "sentencepiece", "tokenizers", "sacrebleu")
    named = [name for name in shown if name in stamp.packages]
    versions = ", ".join(f"{name} {stamp.packages[name]}" for name in named)
    return f"Python {stamp.python}{', ' if versions else ''}{versions}"


def _several(texts: set[str]) -> str:
    return "; ".join(sorted(texts))


def _counted(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{text} ({count} runs)" for text, count in sorted(counts.items()))
