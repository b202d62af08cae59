"""Which files of a run's ``checkpoints`` folder go when nobody resumes or averages from them any more; no torch."""

from __future__ import annotations

import re
from pathlib import Path

LAST = "last.ckpt"
"""All that resuming needs."""
BEST = "best.pt"
"""The weights of the lowest validation NLL; always kept."""
EVALUATED = "evaluated.pt"
"""The weights that were scored; always kept."""


def averaged_parts(folder: Path) -> list[Path]:
    """The weights kept for averaging, oldest update first (by number, not by name or time)."""
    found = [path for path in folder.glob("average-*.pt") if re.fullmatch(r"average-\d+\.pt", path.name)]
    return sorted(found, key=update_of)


def update_of(path: Path) -> int:
    """The update after which the weights of ``average-<update>.pt`` were taken."""
    return int(path.stem.removeprefix("average-"))


def drop_training_state(folder: Path) -> None:
    """Delete the training state and the averaged parts; the best and the evaluated weights stay."""
    for path in [folder / LAST, *averaged_parts(folder)]:
        path.unlink(missing_ok=True)
