"""From files and words to an :class:`Experiment`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from ablatable.config import scale as scales
from ablatable.config.catalogue import check_corpus
from ablatable.config.layers import Layer, build, from_document, from_overrides
from ablatable.config.locate import find
from ablatable.config.scale import Scale
from ablatable.config.schema import Experiment
from ablatable.config.yaml_file import read
from ablatable.errors import InputError


def experiment_layers(name: str) -> list[Layer]:
    """The layers of ``experiments/<name>.yaml``, those it extends first.

    Raises:
        InputError: unknown experiment or key, a cycle of ``extends``.
    """
    return _layers(find("experiments", name), ())


def _layers(path: Path, seen: tuple[Path, ...]) -> list[Layer]:
    if path.resolve() in seen:
        raise InputError(f"{path}: `extends` comes back to this file; remove one of them")
    document = read(path)
    parent = document.data.get("extends")
    below: list[Layer] = []
    if parent is not None:
        if not isinstance(parent, str):
            raise InputError(f"{document.where('extends')}: extends names one experiment, such as base")
        sibling = path.parent / f"{parent}.yaml"
        below = _layers(sibling if sibling.is_file() else find("experiments", parent), (*seen, path.resolve()))
    return [*below, from_document(document, skip=("extends", "title"))]


def scaled(base: Sequence[Layer], row: Layer, scale: Scale | None, kept: Collection[str] = ()) -> list[Layer]:
    """A baseline, what a row changes at paper size, and what a scale makes of them, as layers.

    The scale leaves the paths in ``kept`` as they are below it.

    Raises:
        InputError: the scale shrinks to no whole number, or replaces what the row changes.
    """
    layers = [*base, row]
    if scale is None:
        return layers
    composed: Layer = {path: setting for layer in layers for path, setting in layer.items()}
    return [*layers, *scales.apply(scale, composed, row, kept)]


def resolve(
    base: Sequence[Layer],
    row: Layer | None = None,
    scale: Scale | None = None,
    overrides: Layer | None = None,
    kept: Collection[str] = (),
) -> Experiment:
    """Compose a baseline, what a row changes at paper size, a scale and overrides, in that order.

    The scale leaves the paths in ``kept`` as they are below it.

    Raises:
        InputError: anything that does not make an experiment.
    """
    layers = [*scaled(base, row or {}, scale, kept), overrides or {}]
    experiment = build(layers)
    where = next((layer["data.corpus"].where for layer in reversed(layers) if "data.corpus" in layer), "data.corpus")
    check_corpus(experiment.data.corpus, where)
    return experiment


def load_experiment(name: str, overrides: Sequence[str] = (), scale: str | None = None) -> Experiment:
    """Read an experiment by name or path, with ``key=value`` overrides and a scale by name.

    Raises:
        InputError: as :func:`resolve`.
    """
    return resolve(
        experiment_layers(name),
        scale=scales.load_scale(scale) if scale is not None else None,
        overrides=from_overrides(overrides),
    )
