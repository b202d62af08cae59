"""Weights & Biases as a mirror of the ledger: it reads what the run wrote, so tracking cannot change training.

One thread of the run's main process follows ``events.jsonl`` and forwards it through Lightning's ``WandbLogger``. Also
with several devices there is therefore one tracker run. A resumed run replays its ledger from the start, so that the
tail which W&B had not yet put on disk when the run was killed is there again.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import sys
import threading
from types import TracebackType
from typing import Any, Self, cast

from ablatable.config.dump import to_dict
from ablatable.errors import InputError
from ablatable.record.events import read_events
from ablatable.record.job import Job
from ablatable.record.schema import Record

_POLL_SECONDS = 1.0
_LOGGED = {
    "train": ("loss", "nll", "learning_rate", "source_tokens", "target_tokens", "seconds"),
    "valid": ("nll", "ppl", "accuracy"),
}


class Mirror:
    """Does nothing and imports nothing when tracking is off."""

    def summarise(self, record: Record) -> None:
        """Show the final metrics of the run."""

    def close(self, completed: bool) -> None:
        """Forward what is left and end the mirrored run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error is None)


class WandbMirror(Mirror):
    """Follows one run's ledger into one W&B run."""

    def __init__(self, job: Job) -> None:
        from pytorch_lightning.loggers import WandbLogger

        tracking = job.experiment.tracking
        self._events = job.folder / "events.jsonl"
        self._sent = 0
        self._completed = False
        offline = tracking.wandb == "offline"
        if offline:
            # Replayed below from the ledger, so that `wandb sync` has one complete run to upload.
            shutil.rmtree(job.folder / "wandb", ignore_errors=True)
        os.environ.setdefault("WANDB_SILENT", "true")
        logging.getLogger("wandb").setLevel(logging.ERROR)
        self._logger = WandbLogger(
            save_dir=job.folder,
            id=job.id,
            name=f"{job.labels.row or 'run'}/{job.experiment.seed}",
            group=job.labels.study,
            project=tracking.project,
            entity=tracking.entity,
            job_type=job.labels.scale,
            offline=offline,
            resume=None if offline else "allow",
            config=to_dict(job.experiment),
        )
        run: Any = cast(Any, self._logger.experiment)
        run.define_metric("*", step_metric="update")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="wandb-mirror", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while not self._stop.wait(_POLL_SECONDS):
            self._forward()

    def _forward(self) -> None:
        try:
            events = read_events(self._events)
        except InputError as error:
            # The record does not depend on the mirror: a damaged diary must not end a run that is otherwise well.
            print(f"W&B shows this run only in part: {error}", file=sys.stderr)
            self._stop.set()
            return
        for event in events[self._sent :]:
            kind = event["kind"]
            values = {f"{kind}/{name}": event[name] for name in _LOGGED.get(kind, ()) if event.get(name) is not None}
            if values:
                self._logger.experiment.log({"update": event["update"], **values})
        self._sent = len(events)

    def summarise(self, record: Record) -> None:
        """Put the final metrics into the summary: the record's, not the last logged."""
        run: Any = cast(Any, self._logger.experiment)
        run.summary.update({name: metric.value for name, metric in record.metrics.items()})
        run.summary.update({"status": record.status, "parameters": record.parameters, "flops": record.flops})
        self._completed = record.status == "completed"

    def close(self, completed: bool) -> None:
        """Stop following, forward what is left, finish the W&B run."""
        damaged = self._stop.is_set()
        self._stop.set()
        self._thread.join()
        if not damaged:
            self._forward()
        run: Any = cast(Any, self._logger.experiment)
        run.finish(exit_code=0 if completed and self._completed else 1)


def check_tracking(wanted: str) -> None:
    """Refuse what cannot work before anything is trained.

    Raises:
        InputError: online tracking without the package or without a login.
    """
    if wanted != "online":
        return
    if importlib.util.find_spec("wandb") is None:
        raise InputError("tracking.wandb=online needs the wandb package; pip install wandb, or set tracking.wandb=off")
    import wandb

    if not wandb.api.api_key:
        raise InputError("tracking.wandb=online needs a login; run `wandb login`, or set tracking.wandb=offline")


def open_mirror(job: Job) -> Mirror:
    """The mirror the experiment asks for; offline tracking is simply absent where wandb is not installed."""
    wanted = job.experiment.tracking.wandb
    if wanted == "off" or importlib.util.find_spec("wandb") is None:
        return Mirror()
    return WandbMirror(job)
