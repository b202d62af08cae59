"""What a run has done so far; saved with every checkpoint so that a resumed run goes on counting."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ablatable.record.schema import CurvePoint


@dataclass
class Progress:
    """Counters of a run. Tokens leave out padding; ``seconds`` is training time, without repeated updates.

    The window gathers the training NLL (nats, tokens) since the last validation.
    """

    update: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    window_nll: float = 0.0
    window_tokens: int = 0
    best_nll: float | None = None
    best_update: int = 0
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
