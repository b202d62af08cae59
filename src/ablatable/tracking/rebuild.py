"""A run in W&B made from its ledger and record alone: its client had died, or the run was not tracked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ablatable.config.dump import from_dict
from ablatable.config.runtime import Tracking
from ablatable.config.yaml_file import read
from ablatable.data.dataset import prepare
from ablatable.errors import InputError
from ablatable.record.events import read_events
from ablatable.record.foreign import FOREIGN_FILE, origin_of
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.record.store import EVENTS_FILE, Store
from ablatable.tracking.curves import Curves
from ablatable.tracking.describe import card_of
from ablatable.tracking.final import Pictures, final_of, no_pictures
from ablatable.tracking.opening import check_tracking
from ablatable.tracking.wandb_run import WandbTracker


def rebuild(folder: Path, cache: Path, pictures: Pictures = no_pictures) -> Path:
    """Make a run's offline W&B run anew; returns its folder, which ``wandb sync`` takes.

    Raises:
        InputError: no run's folder, or a damaged ledger or record.
        RunFailed: the run is being trained.
    """
    imported = (folder / FOREIGN_FILE).is_file() or origin_of(folder) is not None
    if imported and not (folder / EVENTS_FILE).is_file():
        raise InputError(f"run {folder.name} was imported: its events are where it was trained; rebuild it there")
    if not (folder / "config.yaml").is_file() or not (folder / EVENTS_FILE).is_file():
        raise InputError(f"{folder} has no config.yaml and {EVENTS_FILE}; name the folder of a run that has begun")
    show(folder, cache, pictures=pictures)
    (made,) = (folder / "wandb").glob("offline-run-*")
    return made


def show(folder: Path, cache: Path, tracking: Tracking | None = None, pictures: Pictures = no_pictures) -> None:
    """Show a run in W&B as its ledger and record have it: where `tracking` says, else as its own offline run.

    Raises:
        InputError: a damaged ledger or record, or no login for online.
        RunFailed: the run is being trained.
    """
    store = Store(folder.parent)
    with store.lock(folder.name):
        record = store.read(folder.name)
        events = read_events(folder / EVENTS_FILE)
        job = _job(folder, cache, tracking, events, None if record is None else record.labels)
        check_tracking(job.experiment.tracking)
        final = None if record is None else final_of(job, prepare(job.experiment, cache), record, pictures)
        tracker = WandbTracker(card_of(job), job.experiment.tracking, folder)
        tracker.open()
        tracker.log(Curves().take(events))
        tracker.close(final)


def _job(
    folder: Path, cache: Path, tracking: Tracking | None, events: Sequence[dict[str, Any]], labels: Labels | None
) -> Job:
    """The job as it was given; what has no record has its labels from its ledger."""
    experiment = from_dict(read(folder / "config.yaml").data, where=f"{folder}/config.yaml")
    offline = replace(experiment.tracking, wandb="offline", tensorboard=False)
    shown = replace(experiment, tracking=tracking or offline)
    began: dict[str, Any] = {}
    for event in events:
        began |= event if event["kind"] == "start" else {}
    given = labels or Labels(**began.get("labels", {}))
    changed = tuple(began.get("changed", ()))
    return Job(shown, folder.name, given, folder.absolute(), cache.absolute(), changed=changed)
