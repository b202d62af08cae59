"""One run in TensorBoard: curves by update, settings beside final metrics (the HPARAMS page)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ablatable.tracking.curves import Point
from ablatable.tracking.describe import Card, facts
from ablatable.tracking.tracker import Final


class TensorBoardTracker:
    """Shows a run under ``runs/<id>/tensorboard``, made anew from the ledger by each attempt."""

    name = "TensorBoard"

    def __init__(self, card: Card, folder: Path) -> None:
        self._card = card
        self._folder = folder / "tensorboard"
        self._writer: Any = None

    def open(self) -> None:
        """Start an events file."""
        from torch.utils.tensorboard import SummaryWriter

        shutil.rmtree(self._folder, ignore_errors=True)
        self._writer = SummaryWriter(str(self._folder))

    def log(self, points: Sequence[Point]) -> None:
        """Write points, and put them on disk."""
        for point in points:
            for name, value in (point.values | _without_update(point.axes)).items():
                self._writer.add_scalar(name, value, point.update)
        self._writer.flush()

    def close(self, final: Final | None) -> None:
        """Write settings, final metrics, samples and pictures, and end."""
        if final is not None:
            self._finish(final)
        self._writer.close()

    def _finish(self, final: Final) -> None:
        from torch.utils.tensorboard import summary

        update = final.record.updates
        numbers = {name: float(value) for name, value in facts(final.record).items() if not isinstance(value, str)}
        # In the run's own folder; SummaryWriter.add_hparams would make a second run of it.
        for part in cast(Any, summary).hparams(_flat(self._card.config), numbers):
            self._writer.file_writer.add_summary(part)
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, update)
        for split, samples in final.samples.items():
            lines = [
                f"| {one.number} | {_cell(one.source)} | {_cell(one.reference)} | {_cell(one.hypothesis)} |"
                for one in samples
            ]
            head = "| sentence | source | reference | hypothesis |\n|---|---|---|---|\n"
            self._writer.add_text(f"hypotheses/{split}", head + "\n".join(lines), update)
        for name, path in final.pictures.items():
            self._writer.add_image(name, _pixels(path), update, dataformats="HWC")


def _without_update(axes: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in axes.items() if name != "update"}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _pixels(path: Path) -> Any:
    import numpy as np
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, bool | int | float | str]:
    """Dotted settings. HPARAMS knows neither null nor lists: both as text."""
    flat: dict[str, bool | int | float | str] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")  # pyright: ignore[reportUnknownArgumentType] (plain data)
        else:
            flat[prefix + name] = value if isinstance(value, bool | int | float | str) else str(value)
    return flat
