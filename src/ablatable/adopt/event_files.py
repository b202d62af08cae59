"""TensorBoard's event files, read by the tensorboard package without TensorFlow."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from ablatable.adopt.csv_logger import HPARAMS_FILE
from ablatable.adopt.found import FoundRun, Line, Told, digest_of, flat, last_of
from ablatable.config.locate import display
from ablatable.config.yaml_file import read as read_yaml
from ablatable.errors import InputError

EVENT_FILES = "events.out.tfevents.*"

_FRAME = 16
"""Bytes around each entry: its length, and two checksums."""


def read(folder: Path, name: str) -> FoundRun:
    """Read one run, a folder of event files.

    Raises:
        InputError: tensorboard is not installed, or there is no number in the files.
    """
    if importlib.util.find_spec("tensorboard") is None:
        raise InputError(
            f"{display(folder)} holds TensorBoard files; pip install 'ablatable[tensorboard]' to read them"
        )
    files = sorted(folder.glob(EVENT_FILES))
    faults = [fault for path in files if (fault := _fault(path)) is not None]
    config, lines = _content(files)
    settings = folder / HPARAMS_FILE  # Lightning's TensorBoardLogger leaves it too
    if settings.is_file():
        config |= flat(read_yaml(settings).data)
        files.append(settings)
    if not lines:
        why = f": {faults[0]}" if faults else ""
        raise InputError(f"{display(folder)} holds no number that TensorBoard can read{why}; leave this run out")
    return FoundRun(
        id=name,
        name=name,
        tool="tensorboard",
        version=None,
        source=folder,
        digest=digest_of(files),
        config=config,
        final=last_of(lines),
        lines=tuple(lines),
        fault=faults[0] if faults else None,
    )


def _fault(path: Path) -> str | None:
    """The package's reader stops without a word where it can't go on; what it read tells where that was."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    entries = cast(Iterator[bytes], cast(Any, RawEventFileLoader)(str(path)).Load())
    read, size = sum(len(entry) + _FRAME for entry in entries), path.stat().st_size
    if read == size:
        return None
    return f"{path.name} can be read up to byte {read:,} of {size:,} (cut off or damaged)"


def _content(files: Sequence[Path]) -> tuple[dict[str, Told], list[Line]]:
    """Settings of the HPARAMS page, and one line a step."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    config: dict[str, Told] = {}
    steps: defaultdict[int, dict[str, float]] = defaultdict(dict)
    times: dict[int, float] = {}
    kinds: dict[str, str] = {}
    for path in files:
        for event in cast(Any, EventFileLoader)(str(path)).Load():
            for value in event.summary.value:
                kind = kinds.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
                if kind == "scalars":
                    steps[event.step][value.tag] = float(cast(Any, tensor_util).make_ndarray(value.tensor).item())
                    times.setdefault(event.step, event.wall_time)
                elif kind == "hparams" and value.tag.endswith("session_start_info"):
                    config |= _settings(value.metadata.plugin_data.content)
    begun = min(times.values(), default=0.0)
    return config, [Line(step, times[step] - begun, steps[step]) for step in sorted(steps)]


def _settings(content: bytes) -> dict[str, Told]:
    from tensorboard.plugins.hparams import metadata

    session: Any = cast(Any, metadata).parse_session_start_info_plugin_data(content)
    return {name: getattr(value, value.WhichOneof("kind")) for name, value in session.hparams.items()}
