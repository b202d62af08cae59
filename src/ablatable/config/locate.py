"""Finding experiments, ablations and sweeps by name, and the folders a user owns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from ablatable.config.yaml_file import shown
from ablatable.errors import InputError, nearest

Kind = Literal["experiments", "experiments/scales", "ablations", "sweeps"]
_SINGULAR = {
    "experiments": "experiment",
    "experiments/scales": "scale",
    "ablations": "study",
    "sweeps": "sweep",
}


def checkout() -> Path:
    """The source checkout this package runs from (an editable install), whether or not it exists."""
    return Path(__file__).resolve().parents[3]


def _roots() -> list[Path]:
    roots = [Path.cwd(), checkout()]
    return roots if roots[0].resolve() != roots[1].resolve() else roots[:1]


def known(kind: Kind) -> list[str]:
    """Names of that kind, sorted; the current directory shadows the checkout."""
    return sorted({path.stem for root in _roots() for path in (root / kind).glob("*.yaml")})


def find(kind: Kind, name: str) -> Path:
    """Return the file of that name, or the file itself where a path is given.

    Raises:
        InputError: nothing of that name; the message lists the nearest.
    """
    if name.endswith((".yaml", ".yml")):
        if Path(name).is_file():
            return Path(name)
        raise InputError(f"{name}: no such file; known in {kind}/: {', '.join(known(kind)) or 'none'}")
    for root in _roots():
        path = root / kind / f"{name}.yaml"
        if path.is_file():
            return path
    raise InputError(
        f"unknown {_SINGULAR[kind]} '{name}'{nearest(name, known(kind))} "
        f"(known in {kind}/: {', '.join(known(kind)) or 'none'})"
    )


def runs_folder() -> Path:
    """``ABLATABLE_RUNS``, else ``runs`` in the current directory."""
    return Path(os.environ.get("ABLATABLE_RUNS") or "runs")


def results_folder() -> Path:
    """``results`` in the current directory."""
    return Path("results")


def cache_folder() -> Path:
    """``ABLATABLE_CACHE``, else ``ablatable`` in the user's cache folder: corpora, tokenizers, packed data."""
    if given := os.environ.get("ABLATABLE_CACHE"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ablatable"


def display(path: Path) -> str:
    """A path as shown to a person."""
    return shown(path)
