"""Which trackers a run has, and whether it can have those it asks for."""

from __future__ import annotations

import importlib.util

from ablatable.config.runtime import Tracking
from ablatable.errors import InputError
from ablatable.record.job import Job
from ablatable.record.store import EVENTS_FILE
from ablatable.tracking.describe import card_of
from ablatable.tracking.mirror import Mirror
from ablatable.tracking.tensorboard import TensorBoardTracker
from ablatable.tracking.tracker import Tracker
from ablatable.tracking.wandb_run import WandbTracker, mode


def check_tracking(tracking: Tracking) -> None:
    """Refuse what cannot work before anything is trained.

    Raises:
        InputError: TensorBoard without its package, or online W&B without the package or without a login.
    """
    if tracking.tensorboard and importlib.util.find_spec("tensorboard") is None:
        raise InputError(
            "tracking.tensorboard=true needs the tensorboard package; pip install 'ablatable[tensorboard]', "
            "or leave it out"
        )
    if mode(tracking) == "online":
        check_login("tracking.wandb=online", "set tracking.wandb=offline")


def check_login(what: str, otherwise: str) -> None:
    """Refuse what needs an account where there is none. Nothing is sent.

    Raises:
        InputError: no W&B package, or no login.
    """
    if importlib.util.find_spec("wandb") is None:
        raise InputError(f"{what} needs the wandb package; pip install wandb, or {otherwise}")
    import wandb

    if not wandb.login(prompt=False, verify=False):
        raise InputError(f"{what} needs a login; run `wandb login`, or {otherwise}")


def open_mirror(job: Job) -> Mirror:
    """The mirror the experiment asks for; offline tracking is simply absent where wandb is not installed."""
    tracking = job.experiment.tracking
    wandb = mode(tracking) != "off" and importlib.util.find_spec("wandb") is not None
    trackers: list[Tracker] = []
    if wandb or tracking.tensorboard:
        card = card_of(job)
        trackers += [WandbTracker(card, tracking, job.folder)] if wandb else []
        trackers += [TensorBoardTracker(card, job.folder)] if tracking.tensorboard else []
    return Mirror(job.folder / EVENTS_FILE, trackers)
