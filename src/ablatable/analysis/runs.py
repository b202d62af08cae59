"""The run an analysis looks at: refused in one sentence before torch loads where it has nothing to show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ablatable.config.dump import from_dict
from ablatable.config.model.position import POSITIONED
from ablatable.config.schema import Experiment
from ablatable.config.yaml_file import read
from ablatable.errors import InputError
from ablatable.record.foreign import refuse_without_weights
from ablatable.record.store import Store

if TYPE_CHECKING:
    from ablatable.training.load import LoadedRun

WEIGHTS = Path("checkpoints", "evaluated.pt")
"""What a finished run keeps whatever ``runtime.keep_checkpoints`` says."""


def experiment_of(folder: Path) -> Experiment:
    """What the run in this folder was asked to be.

    Raises:
        InputError: no run's folder, or one that was imported without weights.
    """
    refuse_without_weights(folder)
    if not (folder / "config.yaml").is_file():
        raise InputError(f"{folder} is not a run's folder; `ablatable status STUDY --format json` lists run ids")
    return from_dict(read(folder / "config.yaml").data, where=f"{folder}/config.yaml")


def check_attention(folder: Path, experiment: Experiment) -> None:
    """Refuse a run without multi-head attention.

    Raises:
        InputError: another architecture.
    """
    architecture = experiment.model.architecture
    if architecture != "transformer":
        raise InputError(
            f"run {folder.name} is of model.architecture={architecture}, which has no attention heads to show; "
            "name a run of model.architecture=transformer"
        )


def check_chosen(folder: Path, experiment: Experiment, layer: int | None, head: int | None) -> None:
    """Refuse a layer or a head that a run with attention does not have.

    Raises:
        InputError: there is none of that number.
    """
    model = experiment.model
    for name, chosen, most in (("layer", layer, model.layers), ("head", head, model.heads)):
        if chosen is not None and chosen > most:
            raise InputError(
                f"--{name} {chosen}: run {folder.name} has {most}; name one of them, or leave --{name} out"
            )


def check_positions(folder: Path, experiment: Experiment) -> None:
    """Refuse a run whose model has no positions.

    Raises:
        InputError: an architecture that counts for itself or has no order, or ``model.position=none``.
    """
    model = experiment.model
    if model.architecture not in POSITIONED:
        raise InputError(
            f"run {folder.name} is of model.architecture={model.architecture}, which has no positions to show; "
            f"name a run of model.architecture={' or '.join(POSITIONED)}"
        )
    if model.position == "none":
        raise InputError(f"run {folder.name} has model.position=none, nothing to show; name a run of another kind")


def check_weights(folder: Path) -> None:
    """Refuse a run without the weights that were scored.

    Raises:
        InputError: there are none; the message says why.
    """
    if (folder / WEIGHTS).is_file():
        return
    record = Store(folder.parent).read(folder.name)
    if record is None:
        cause = "it has not finished; finish it with the command that began it"
    elif record.status == "completed":
        cause = "they were deleted; move its folder away and run it again, or name another run"
    else:
        cause = f"it {record.status}{f' ({record.cause})' if record.cause else ''}; name a completed run"
    raise InputError(f"run {folder.name} has no weights to analyse ({WEIGHTS} is missing): {cause}")


def load(folder: Path, cache: Path) -> LoadedRun:
    """The evaluated weights and the tokenizers; torch loads here."""
    from ablatable.training.load import load_run

    return load_run(folder, cache)
