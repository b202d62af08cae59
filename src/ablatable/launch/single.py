"""One run outside any study: data, process, record."""

from __future__ import annotations

from collections.abc import Callable

from ablatable.config.identity import run_id
from ablatable.config.locate import cache_folder, runs_folder
from ablatable.config.schema import Experiment
from ablatable.errors import RunFailed
from ablatable.launch.local import PREPARE, Progress, run_jobs
from ablatable.launch.outcome import Outcome, Queued
from ablatable.launch.process import call_in_child
from ablatable.launch.server import preload_list
from ablatable.launch.slots import plan_slots
from ablatable.record.job import Job
from ablatable.record.schema import Labels, Record
from ablatable.record.store import Store
from ablatable.study.fingerprints import local_fingerprint
from ablatable.tracking.wandb_run import awaited, mode

SHOW = "ablatable.launch.executed:show"


def run_experiment(
    experiment: Experiment,
    name: str,
    *,
    changed: tuple[str, ...] = (),
    retry_failed: bool,
    progress: Progress,
    say: Callable[[str], None],
) -> tuple[Record | None, Outcome]:
    """Train one experiment, or take the record it has already.

    Args:
        experiment: What to train.
        name: The run's label.
        changed: Settings that were asked for beside the experiment's own, by path.
        retry_failed: Run again what failed.
        progress: Shows the run.
        say: Shows a sentence about what comes before it.

    Returns:
        Its record (None where it crashed or was stopped) and how the launch ended.

    Raises:
        InputError: The settings or the data don't allow it.
        RunFailed: The data could not be prepared, or the disk is full.
    """
    store = Store(runs_folder())
    fingerprint = local_fingerprint(cache_folder(), store.records)(experiment.data)
    if fingerprint is None or store.read(run_id(experiment, fingerprint)) is None:
        say("preparing the data")
        preload = preload_list(wandb=experiment.tracking.wandb != "off")
        call_in_child(PREPARE, [experiment], cache_folder(), preload=preload)
        fingerprint = local_fingerprint(cache_folder(), store.records)(experiment.data)
    if fingerprint is None:
        raise RunFailed(f"corpus {experiment.data.corpus} was prepared and can't be found again")
    id = run_id(experiment, fingerprint)
    folder, labels = store.folder(id).absolute(), Labels(None, name, None)
    job = Job(experiment, id, labels, folder, cache_folder().absolute(), changed=changed)
    found = store.read(id)
    outcome = run_jobs([Queued(job)], plan_slots([experiment.runtime], 1), progress, retry_failed=retry_failed)
    record = store.read(id)
    if found is not None and found == record:
        _show_to_agent(job)
    return record, outcome


def _show_to_agent(job: Job) -> None:
    """A sweep of W&B's waits for a run of this attempt; where the record was there already, it is shown as that run."""
    tracking = job.experiment.tracking
    if awaited() is None or mode(tracking) == "off":
        return
    call_in_child(SHOW, job.folder, job.cache, tracking, preload=preload_list(wandb=True))
