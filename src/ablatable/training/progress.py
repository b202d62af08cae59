"""What a run has done so far; saved with every checkpoint so that a resumed run goes on counting."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ablatable.record.schema import CurvePoint


@dataclass
class Progress:
    """Counters of a run. Tokens leave out padding; ``seconds`` is training time, without repeated updates.

    The window gathers the training NLL (nats, tokens) since the last validation. ``merit`` is the best that
    ``train.patience`` has seen, at ``merit_update``; ``stale`` counts the validations since. ``cause`` says why
    training ended before its budget. ``epoch`` is the one of the last batch, ``epoch_batches`` the batches of all
    before it.
    """

    update: int = 0
    epoch: int = 0
    epoch_batches: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    window_nll: float = 0.0
    window_tokens: int = 0
    best_nll: float | None = None
    best_update: int = 0
    merit: float | None = None
    merit_update: int = 0
    stale: int = 0
    cause: str | None = None
    finished: bool = False
    curve: list[CurvePoint] = field(default_factory=list[CurvePoint])

    def state(self) -> dict[str, Any]:
        """As plain data for a checkpoint."""
        return asdict(self)

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Progress:
        """Inverse of :meth:`state`."""
        progress = cls(**state)
        progress.curve = [CurvePoint(**point) for point in state["curve"]]
        return progress
