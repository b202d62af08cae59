"""One run in Weights & Biases, online or as an offline folder that ``wandb sync`` uploads later."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

from ablatable.config.runtime import Tracking
from ablatable.tracking.curves import AXES, VALUES, Point
from ablatable.tracking.describe import Card, facts
from ablatable.tracking.tracker import Final, Sample

_FLUSH_SECONDS = 0.2
"""Between writes of the offline file. W&B's own 15 s are what a killed run would lose."""
_BEST = {"valid/nll": "min", "valid/ppl": "min", "valid/accuracy": "max"}


class WandbTracker:
    """Shows a run in W&B. An offline run is made anew from the ledger by each attempt, an online one goes on."""

    name = "W&B"

    def __init__(self, card: Card, tracking: Tracking, folder: Path) -> None:
        self._card = card
        self._tracking = tracking
        self._folder = folder
        self._run: Any = None
        self._sent = 0

    def open(self) -> None:
        """Start the client and its one process, and say what is drawn against what."""
        offline = mode(self._tracking) == "offline"
        if offline:
            shutil.rmtree(self._folder / "wandb", ignore_errors=True)
        self._run = start(
            self._tracking,
            dir=self._folder,
            id=run_name(self._card.id),
            name=self._card.name,
            group=self._card.group,
            job_type="train",
            tags=list(self._card.tags),
            config=self._card.config,
            resume=None if offline else "allow",
        )
        self._sent = self._run.starting_step
        for axis in AXES:
            self._run.define_metric(axis, hidden=True)
        for kind, names in VALUES.items():
            for name in names:
                key = f"{kind}/{name}"
                self._run.define_metric(key, step_metric="update", summary=_BEST.get(key, "last"))

    def log(self, points: Sequence[Point]) -> None:
        """Send points; those that an earlier attempt sent already are left out."""
        for point in points:
            if point.step >= self._sent:
                self._run.log({**point.axes, **point.values}, step=point.step, commit=True)

    def close(self, final: Final | None) -> None:
        """Send the summary, the samples, the pictures and the record, and end."""
        completed = final is not None and final.record.status == "completed"
        with staged_in(self._folder / "wandb"):
            try:
                if final is not None:
                    self._finish(final)
            finally:  # what was sent before stays, and the run is not left open
                self._run.finish(exit_code=0 if completed else 1)

    def _finish(self, final: Final) -> None:
        import wandb

        self._run.summary.update(facts(final.record))
        shown: dict[str, Any] = {
            f"hypotheses/{split}": _table(samples) for split, samples in final.samples.items() if samples
        }
        shown |= {name: wandb.Image(str(path)) for name, path in final.pictures.items()}
        if shown:
            self._run.log(shown)
        artifact: Any = wandb.Artifact(f"record-{self._card.id}", type="record")
        # Written once and for all: it can be read where it is, also by a later `wandb sync`.
        artifact.add_file(str(final.record_file), name="record.json", policy="immutable")
        self._run.log_artifact(artifact)


@contextmanager
def staged_in(folder: Path) -> Generator[None, None, None]:
    """Have W&B keep what it is to upload beside the run, unless told where; its default is the home folder."""
    before = os.environ.get("WANDB_DATA_DIR")
    os.environ["WANDB_DATA_DIR"] = before or str(folder / "data")
    try:
        yield
    finally:
        if before is None:
            del os.environ["WANDB_DATA_DIR"]


def _table(samples: Sequence[Sample]) -> Any:
    import wandb

    rows: list[Any] = [[one.number, one.source, one.reference, one.hypothesis] for one in samples]
    return wandb.Table(columns=["sentence", "source", "reference", "hypothesis"], data=rows)


def mode(tracking: Tracking) -> Literal["offline", "online", "off"]:
    """Where runs go: what ``tracking.wandb`` says, or less where ``WANDB_MODE`` says less."""
    outside = os.environ.get("WANDB_MODE", "online")
    order: dict[str, int] = {"off": 0, "disabled": 0, "offline": 1, "dryrun": 1}
    return ("off", "offline", "online")[min(order.get(tracking.wandb, 2), order.get(outside, 2))]


def awaited() -> str | None:
    """Under ``wandb agent``, the id of the run that its sweep waits for."""
    return os.environ.get("WANDB_RUN_ID") if os.environ.get("WANDB_SWEEP_ID") else None


def run_name(id: str) -> str:
    """The id W&B knows a run by: ours, but under ``wandb agent`` the one that its sweep waits for."""
    return awaited() or id


def start(tracking: Tracking, *, dir: Path, **described: Any) -> Any:
    """Start a W&B run that leaves this process as it is: its output is not captured, nothing is printed."""
    import wandb

    os.environ.setdefault("WANDB_SILENT", "true")
    _leave_parents_client()
    logging.getLogger("wandb").setLevel(logging.ERROR)
    dir.mkdir(parents=True, exist_ok=True)
    if mode(tracking) == "offline":
        # Of the process, not of the run alone: else the client sets up the sending of its own statistics of use.
        wandb.setup(wandb.Settings(mode="offline"))
    settings = wandb.Settings(
        console="off",
        silent=True,
        quiet=True,
        disable_code=True,
        disable_job_creation=True,
        x_disable_stats=True,  # a second process beside the client's own; the record has time and memory
        x_transaction_log_flush_interval=_FLUSH_SECONDS,
    )
    return cast(Any, wandb).init(
        dir=str(dir),
        project=tracking.project,
        entity=tracking.entity,
        mode=mode(tracking),
        reinit="create_new",
        settings=settings,
        **described,
    )


def _leave_parents_client() -> None:
    """Have this process start a client of its own.

    That of a parent process, which the environment names (``3-<pid>-unix-...``), would end with that one, and several
    runs would share it.
    """
    if f"-{os.getpid()}-" not in os.environ.get("WANDB_SERVICE", ""):
        os.environ.pop("WANDB_SERVICE", None)
