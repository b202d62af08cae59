"""Checkpoints on disk: resumable state, best weights, and the average that is evaluated.

``checkpoints/last.ckpt`` is Lightning's format and everything that resuming needs. ``best.pt``, ``average-<update>.pt``
and ``evaluated.pt`` hold weights only. Every file appears whole or not at all.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from ablatable.errors import InputError
from ablatable.record.files import disk_errors, sync_folder, write_atomic
from ablatable.training.retention import BEST, EVALUATED, LAST, averaged_parts, drop_training_state, update_of

Weights = dict[str, Tensor]


class Checkpoints:
    """The ``checkpoints`` folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.last = folder / LAST
        self.best = folder / BEST
        self.evaluated = folder / EVALUATED

    def numbered(self) -> list[Path]:
        """The weights kept for averaging, oldest update first."""
        return averaged_parts(self.folder)

    def keep_for_average(self, weights: Weights, update: int, last: int) -> None:
        """Write the weights of this update and drop those older than the last so many."""
        save_weights(self.folder / f"average-{update}.pt", weights)
        for path in self.numbered()[:-last]:
            path.unlink()

    def rewind(self, update: int) -> None:
        """Drop what an earlier attempt wrote after the update that is gone on from; 0: from nothing.

        Its last weights would be averaged, and those it evaluated taken for this attempt's.
        """
        late = [path for path in self.numbered() if update_of(path) > update]
        for path in [*late, self.evaluated, *([self.best] if update == 0 else [])]:
            path.unlink(missing_ok=True)

    def clean(self, keep_state: bool) -> None:
        """Retention of a finished run: the training state and the averaged parts go unless asked for."""
        if not keep_state:
            drop_training_state(self.folder)


def save_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Write weights in float32 on the CPU.

    Raises:
        RunFailed: the disk is full.
    """
    plain = {name: tensor.detach().to("cpu", torch.float32).clone() for name, tensor in weights.items()}
    packed = io.BytesIO()  # torch's own writer answers a full disk with a RuntimeError that names no disk
    torch.save(plain, packed)
    write_atomic(path, packed.getvalue())


def atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` fill a temporary file, put it on the disk and rename it over ``path``.

    Raises:
        RunFailed: the disk is full.
    """
    partial = path.with_name(f".{path.name}.partial")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(partial)
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
        sync_folder(path.parent)


def load_weights(path: Path) -> Weights:
    """Read weights.

    Raises:
        InputError: missing or damaged file.
    """
    if not path.is_file():
        raise InputError(f"{path} is missing: the run has no such checkpoint; run it again or name another run")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, OSError, ValueError, UnpicklingError) as error:
        raise InputError(
            f"{path} is damaged ({type(error).__name__}); delete the run's folder and run it again"
        ) from error


def average(paths: Sequence[Path]) -> Weights:
    """Mean of checkpoints, accumulated in float64, each name on its own so that tied names are not added twice."""
    if not paths:
        raise InputError("no checkpoints to average; lower train.average_every below train.updates")
    total = {name: tensor.double() for name, tensor in load_weights(paths[0]).items()}
    for path in paths[1:]:
        for name, tensor in load_weights(path).items():
            total[name] = total[name] + tensor.double()
    return {name: (tensor / len(paths)).float() for name, tensor in total.items()}
