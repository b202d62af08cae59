"""One run to do: all that a training process needs, small and picklable, so it can cross a process border."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ablatable.record.schema import Labels, Tuned

if TYPE_CHECKING:
    from ablatable.config.schema import Experiment


@dataclass(frozen=True)
class Job:
    """A run: its experiment, identity, labels, own folder and the cache of corpora and packed data.

    ``folder`` is ``runs/<id>``; ``Store(job.folder.parent)`` is the store that takes the record.

    ``trained_by`` is the id of a run of the same store whose training serves this one, because the two differ only in
    what is done with the weights; where its weights are gone, this run trains after all. ``keeps_training`` asks to
    leave the training state where it is when the run has finished: others wait for it. ``changed`` names the settings
    that a row or a command line changes, for those who look for the run later. ``tuned`` says which settings a search
    chose.
    """

    experiment: Experiment
    id: str
    labels: Labels
    folder: Path
    cache: Path
    trained_by: str | None = None
    keeps_training: bool = False
    changed: tuple[str, ...] = ()
    tuned: Tuned | None = None
