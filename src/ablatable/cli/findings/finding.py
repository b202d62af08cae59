"""One answer of `ablatable doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "missing"]
GIB = 2**30


@dataclass(frozen=True)
class Finding:
    """One answer.

    Args:
        key: stable name for scripts.
        value: the answer as data (JSON).
        text: the answer as a person reads it.
        state: ``ok``; ``note``: works, but read the text; ``missing``: not to be had as things are.
    """

    key: str
    value: object
    text: str
    state: State = "ok"
