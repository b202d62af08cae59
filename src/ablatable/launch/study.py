"""Running what a table still lacks: guard, data once for all, jobs, processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ablatable.config.locate import cache_folder
from ablatable.config.schema import Experiment
from ablatable.errors import RunFailed
from ablatable.launch.guard import only_runner
from ablatable.launch.local import PREPARE, Progress, run_jobs
from ablatable.launch.outcome import Outcome, Queued
from ablatable.launch.process import call_in_child
from ablatable.launch.searching import Calls
from ablatable.launch.server import preload_list
from ablatable.launch.slots import plan_slots
from ablatable.launch.tuning import run_searches
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.study.estimate import cost_of
from ablatable.study.families import shared_trainings, trained_again
from ablatable.study.gather import Expected, expected
from ablatable.study.status import RunState, states
from ablatable.training.retention import drop_training_state


@dataclass(frozen=True)
class StudyRun:
    """A table's runs after a launch: where every one stands, and what this launch did."""

    expected: Expected
    states: tuple[RunState, ...]
    outcome: Outcome

    @property
    def exit_code(self) -> int:
        """0: nothing is lacking; 1: a run failed, now or earlier, or crashed; 128 + signal: stopped."""
        if self.outcome.exit_code:
            return self.outcome.exit_code
        return 0 if all(run.state in ("completed", "pruned") for run in self.states) else 1


def run_study(
    study: str,
    scale: str | None,
    seeds: int,
    *,
    slots: int | None,
    retry_failed: bool,
    progress: Callable[[], Progress],
    say: Callable[[str], None],
) -> StudyRun:
    """Run what a table lacks, and nothing else.

    Args:
        study: Name or path.
        scale: Name; None: the study's default.
        seeds: Repeats of every row.
        slots: Runs at a time; None: as many as cores or devices allow.
        retry_failed: Run again what has failed.
        progress: Makes what shows the runs: one view for the searches of a tuned study, one for its runs.
        say: Shows a sentence about what comes before the runs.

    Raises:
        InputError: The study, the scale or the data don't allow it, or another runner is at work.
        RunFailed: The data could not be prepared, or the disk is full.
        Interrupted: Stopped before the first run.
    """
    found = expected(study, scale, seeds)
    with only_runner(found.store.root, found.study.name, found.scale):
        if found.provisional or _queue(found, retry_failed) or _unsearched(found):
            say("preparing the data")
            _prepare(found)
            found = expected(study, scale, seeds)
            if found.provisional:
                raise RunFailed(f"the corpus of study '{found.study.name}' was prepared and can't be found again")
        if _unsearched(found):
            stopped_by = _search(found, slots, progress(), say)
            found = expected(study, scale, seeds)
            if stopped_by is not None:
                return StudyRun(found, states(found.rows, found.store), Outcome(interrupted_by=stopped_by))
        queued = _queue(found, retry_failed)
        for sentence in _without_weights(found):
            say(sentence)
        outcome = _launch(queued, slots, retry_failed, progress()) if queued else Outcome()
        _drop_what_was_kept(found)
        return StudyRun(found, states(found.rows, found.store), outcome)


def _unsearched(found: Expected) -> bool:
    return any(not searched.finished for searched in found.searches.values())


def _search(found: Expected, slots: int | None, progress: Progress, say: Callable[[str], None]) -> int | None:
    """The data are there; gives the signal that stopped it."""
    return run_searches(found, slots, progress, say, Calls(prepare=None))


def _experiments(found: Expected) -> list[Experiment]:
    """One experiment a row: seeds read the same data."""
    return [row.experiments[0] for row in found.rows]


def _preload(found: Expected) -> list[str]:
    return preload_list(wandb=any(one.tracking.wandb != "off" for one in _experiments(found)))


def _prepare(found: Expected) -> None:
    """Once for all runs, and in a process of its own, so that this one stays free of torch."""
    call_in_child(PREPARE, _experiments(found), cache_folder(), preload=_preload(found))


def _queue(found: Expected, retry_failed: bool) -> list[Queued]:
    """The runs to do: not those completed, nor (unless asked) those that failed."""
    done = {"completed"} if retry_failed else {"completed", "failed", "pruned"}
    runs = [
        (row, experiment, id)
        for row in found.rows
        for experiment, id in zip(row.experiments, row.ids, strict=True)
        if row.awaits is None and found.store.status(id).state not in done
    ]
    trained_by = shared_trainings(found.rows, found.fingerprint, found.store) if runs else {}
    awaited = {trained_by[id] for _, _, id in runs if id in trained_by}
    return [
        Queued(
            Job(
                experiment,
                id,
                Labels(found.study.name, row.row.name, found.scale),
                found.store.folder(id).absolute(),
                cache_folder().absolute(),
                trained_by=trained_by.get(id),
                keeps_training=id in awaited,
                changed=tuple(row.row.set),
                tuned=row.tuned,
            ),
            0.0 if id in trained_by else cost_of(experiment).flops,
        )
        for row, experiment, id in runs
    ]


def _without_weights(found: Expected) -> list[str]:
    """Which runs train although an imported one did so: a record comes without its weights."""
    again = trained_again(found.rows, found.fingerprint, found.store)
    return [
        f"{row.row.name}, seed {seed}: trains, because run {again[id]}, which trained the same, was imported without "
        "its weights"
        for row in found.rows
        for seed, id in zip(row.seeds, row.ids, strict=True)
        if id in again
    ]


def _drop_what_was_kept(found: Expected) -> None:
    """The training state of finished runs that no other run waits for any more."""
    unfinished = found.unfinished
    trained_by = shared_trainings(found.rows, found.fingerprint, found.store) if unfinished else {}
    awaited = {trained_by[id] for id in unfinished if id in trained_by}
    for id in {id for row in found.rows for id in row.ids} - unfinished - awaited:
        record = found.store.read(id)
        # What the run itself was asked: the table may say otherwise, and it is the same run.
        if record is not None and not record.config["runtime"]["keep_checkpoints"]:
            drop_training_state(found.store.folder(id) / "checkpoints")


def _launch(queued: Sequence[Queued], slots: int | None, retry_failed: bool, progress: Progress) -> Outcome:
    planned = plan_slots((item.job.experiment.runtime for item in queued), slots)
    return run_jobs(queued, planned, progress, retry_failed=retry_failed)
