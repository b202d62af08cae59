"""What `ablatable run` says when it is over."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from ablatable.cli.run import _summary  # pyright: ignore[reportPrivateUsage] (needs no training)
from ablatable.config.schema import Experiment
from ablatable.launch.outcome import Ended, Outcome, Queued
from ablatable.launch.study import StudyRun
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.study.status import RunState


def test_a_run_that_died_before_its_first_event_is_named_with_its_cause(tmp_path: Path) -> None:
    """It has no ledger, so on disk it is merely missing; only this launch knows why."""
    job = Job(Experiment(), "ab", Labels("demo", "one-head", "cpu"), tmp_path / "ab", tmp_path)
    made = StudyRun(
        expected=cast(Any, SimpleNamespace(study=SimpleNamespace(name="demo"), scale="cpu", rows=[])),
        states=(RunState("one-head", 1, "ab", "missing", "not run yet"),),
        outcome=Outcome([Ended(Queued(job), "crashed", "runtime.devices=2: no such devices")]),
    )
    assert "one-head, seed 1: missing: runtime.devices=2: no such devices" in _summary(made)
