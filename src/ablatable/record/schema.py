"""The record of one run: the only thing tables, figures and comparisons are made from.

Every class is a frozen, strict pydantic dataclass: an unknown key, a missing key or a wrong type in a file is
an error, never a default. A change to these fields raises ``SCHEMA_VERSION`` and adds a step to
``record/upgrade.py``.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

SCHEMA_VERSION: Literal[4] = 4

Status = Literal["completed", "failed", "pruned"]

_STRICT = ConfigDict(extra="forbid", strict=True)


Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, config=_STRICT)
class Labels:
    """Which table the run was first trained for. Notes: the identity and the tables never read them."""

    study: str | None = None
    row: str | None = None
    scale: str | None = None


@dataclass(frozen=True, config=_STRICT)
class Metric:
    """One final number with its unit (``nats/token``, ``perplexity/token``, ``BLEU``, ``chrF``).

    ``signature`` says how it was computed where there is more than one way (the sacreBLEU signature).
    """

    value: Finite
    unit: str
    signature: str | None = None


@dataclass(frozen=True, config=_STRICT)
class CurvePoint:
    """One validation during training: unsmoothed nats per token, with the seconds and tokens spent so far.

    A value that is not finite is written as null, so that a diverged run leaves its curve.
    """

    update: int
    valid_nll: float | None
    train_nll: float | None = None
    seconds: float = 0.0
    source_tokens: int = 0
    target_tokens: int = 0

    @property
    def valid_ppl(self) -> float | None:
        """Validation perplexity per piece, exp(``valid_nll``)."""
        if self.valid_nll is None or not math.isfinite(self.valid_nll):
            return None
        return math.exp(min(self.valid_nll, 700.0))


@dataclass(frozen=True, config=_STRICT)
class Hardware:
    """The machine: processor model, usable cores, memory in bytes, names of the GPUs the run used."""

    cpu: str
    cores: int
    memory_bytes: int
    gpus: list[str]


@dataclass(frozen=True, config=_STRICT)
class Code:
    """Which code ran: a commit, a digest of what ``src`` differed from it by, a digest of what can change numbers."""

    git_commit: str | None
    git_dirty_digest: str | None
    code_digest: str


@dataclass(frozen=True, config=_STRICT)
class Stamp:
    """Provenance: which code, packages, machine and data made the numbers.

    ``git_commit`` is None outside a checkout; ``git_dirty_digest`` is None when ``src`` equals that commit.
    ``started`` and ``finished`` are UTC, ISO 8601.
    """

    git_commit: str | None
    git_dirty_digest: str | None
    code_digest: str
    packages: dict[str, str]
    python: str
    platform: str
    hardware: Hardware
    threads: int
    devices: int
    corpus: str
    corpus_fingerprint: str
    tokenizer_fingerprint: str
    bleu_signature: str | None
    deterministic: bool
    command: str
    started: str
    finished: str

    @property
    def code(self) -> Code:
        """The code of this run's own process."""
        return Code(self.git_commit, self.git_dirty_digest, self.code_digest)


@dataclass(frozen=True, config=_STRICT)
class Tuned:
    """Which settings a search chose for a table's row, before the row's seeds ran.

    ``search`` is the sweep's name, ``trial`` the number of its best of ``trials``, ``settings`` are by dotted path.
    """

    search: str
    trial: int
    trials: int
    settings: dict[str, bool | int | float | str | None]


@dataclass(frozen=True, config=_STRICT)
class Record:
    """One run, once it has ended. ``metrics`` may be empty when ``status`` is not completed.

    ``config`` is the resolved experiment (``config.dump.to_dict``); ``parameters`` counts shared weights
    once; tokens exclude padding; ``flops`` is the closed-form training cost; ``device_seconds`` is wall time
    times devices. Where another run trained the weights, tokens, updates, curve and FLOPs are that run's; times and
    memory are this one's own, of search and scoring alone, and no table shows them as what the row cost.
    """

    id: str
    labels: Labels
    seed: int
    config: dict[str, Any]
    status: Status
    cause: str | None
    metrics: dict[str, Metric]
    curve: list[CurvePoint]
    parameters: int
    source_tokens: int
    target_tokens: int
    updates: int
    flops: float
    wall_seconds: float
    device_seconds: float
    peak_memory_bytes: int
    stamp: Stamp
    trained_by: str | None = None
    """The run that trained the weights, where this one only searched and scored with them."""
    trainer_code: Code | None = None
    """The code of that run; the stamp names the code that searched. None in records that did not note it."""
    tuned: Tuned | None = None
    """The search that chose some of the settings. A run that was itself a trial of one says so in its label."""
    schema_version: Literal[4] = SCHEMA_VERSION

    def metric(self, name: str) -> float | None:
        """The value of a metric, or None when the run has not got it."""
        found = self.metrics.get(name)
        return None if found is None else found.value


RUN_FACTS = (
    "parameters",
    "flops",
    "updates",
    "source_tokens",
    "target_tokens",
    "wall_seconds",
    "device_seconds",
    "peak_memory_bytes",
)
"""The record's fields that are numbers about the run itself."""

RECORD = TypeAdapter(Record)
"""Validates and serialises records; built once: building it costs more than reading a hundred records."""
