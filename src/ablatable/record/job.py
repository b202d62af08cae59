"""One run to do: all that a training process needs, small and picklable, so it can cross a process border."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ablatable.record.schema import Labels

if TYPE_CHECKING:
    from ablatable.config.schema import Experiment


@dataclass(frozen=True)
class Job:
    """A run: its experiment, identity, labels, own folder and the cache of corpora and packed data.

    ``folder`` is ``runs/<id>``; ``Store(job.folder.parent)`` is the store that takes the record.
    """

    experiment: Experiment
    id: str
    labels: Labels
    folder: Path
    cache: Path
