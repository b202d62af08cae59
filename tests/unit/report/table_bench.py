"""A study small enough to write down in a test: its rows, their runs and what they left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ablatable.config.dump import to_dict
from ablatable.config.schema import Experiment
from ablatable.record.schema import Hardware, Labels, Metric, Record, Stamp
from ablatable.report.model import Table
from ablatable.report.table import build_table
from ablatable.study.schema import Column, Group, Row, RowRuns, Study

STAMP = Stamp(
    git_commit="0123456789abcdef0123456789abcdef01234567",
    git_dirty_digest=None,
    code_digest="00aa11bb22cc33dd",
    packages={"torch": "2.13.0", "sacrebleu": "2.6.0"},
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
    command="ablatable run tiny",
    started="2026-01-01T00:00:00Z",
    finished="2026-01-01T00:10:00Z",
)

COLUMNS = (
    Column("h", path="model.heads"),
    Column("P_drop", path="model.dropout"),
    Column("PPL (dev)", metric="ppl", digits=2, better="lower", reported="ppl"),
    Column("BLEU (dev)", metric="bleu", digits=1, better="higher", reported="bleu"),
    Column("params (M)", metric="parameters", digits=1, divide_by=1e6, reported="params"),
)


@dataclass
class Bench:
    """A small study, its runs and records, from values a test writes down."""

    rows: list[Row] = field(default_factory=list[Row])
    runs: list[RowRuns] = field(default_factory=list[RowRuns])
    records: list[Record] = field(default_factory=list[Record])
    columns: tuple[Column, ...] = COLUMNS
    groups: tuple[Group, ...] = (Group("A", "(A)"), Group("B", "(B)"))
    seeds: int = 3
    title: str = "A tiny table"

    def row(
        self,
        name: str,
        bleu: Mapping[int, float] | None = None,
        ppl: Mapping[int, float] | None = None,
        *,
        failed: Mapping[int, str] | None = None,
        pruned: Mapping[int, str] | None = None,
        model: Mapping[str, Any] | None = None,
        stamp: Mapping[str, Any] | None = None,
        scores: Mapping[str, float] | None = None,
        **row: Any,
    ) -> None:
        """Add a row, the baseline first. Seeds named nowhere are missing; perplexity is 9 unless given.

        ``scores`` are further metrics, the same for every seed that has others.
        """
        ppl = dict.fromkeys(bleu or {}, 9.0) if ppl is None else ppl
        settings = {f"model.{key}": value for key, value in (model or {}).items()}
        if self.rows and not settings:
            settings = {"model.heads": 2 ** len(self.rows)}
        made = Row(name, set=settings, **row)
        base = Experiment()
        changed = replace(base.model, **{key.removeprefix("model."): value for key, value in settings.items()})
        experiments = tuple(replace(base, model=changed, seed=seed) for seed in range(1, self.seeds + 1))
        ids = tuple(f"{len(self.rows):08x}{seed:08x}" for seed in range(1, self.seeds + 1))
        self.rows.append(made)
        self.runs.append(RowRuns(made, experiments, ids))
        for experiment, id in zip(experiments, ids, strict=True):
            metrics: dict[str, Metric] = {}
            if bleu and experiment.seed in bleu:
                metrics["valid.bleu"] = Metric(bleu[experiment.seed], "BLEU")
            if ppl and experiment.seed in ppl:
                metrics["valid.ppl"] = Metric(ppl[experiment.seed], "perplexity/piece")
            if metrics:
                metrics |= {name: Metric(value, "") for name, value in (scores or {}).items()}
            cause = (failed or {}).get(experiment.seed) or (pruned or {}).get(experiment.seed)
            status = "failed" if experiment.seed in (failed or {}) else "pruned" if cause else "completed"
            if metrics or cause:
                self.records.append(self._record(id, name, experiment, status, cause, metrics, stamp or {}))

    def _record(
        self,
        id: str,
        row: str,
        experiment: Experiment,
        status: Any,
        cause: str | None,
        metrics: dict[str, Metric],
        stamp: Mapping[str, Any],
    ) -> Record:
        return Record(
            id=id,
            labels=Labels("tiny", row, "cpu"),
            seed=experiment.seed,
            config=to_dict(experiment),
            status=status,
            cause=cause,
            metrics=metrics,
            curve=[],
            parameters=1_234_567,
            source_tokens=1000,
            target_tokens=1000,
            updates=100,
            flops=1e12,
            wall_seconds=36.0,
            device_seconds=36.0,
            peak_memory_bytes=2**29,
            stamp=replace(STAMP, **stamp),
        )

    @property
    def study(self) -> Study:
        """The study's definition."""
        return Study(
            name="tiny",
            title=self.title,
            baseline="base",
            columns=self.columns,
            rows=tuple(self.rows),
            groups=self.groups,
            source="a paper",
            question="What matters?",
        )

    def table(self) -> Table:
        """The finished table."""
        return build_table(self.study, self.runs, self.records, "cpu")
