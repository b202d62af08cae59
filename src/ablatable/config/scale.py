"""A scale maps paper-size settings onto the hardware at hand: factors for what shrinks, values for what is replaced."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from ablatable.config.layers import Layer, Setting, from_document, value_in
from ablatable.config.locate import find
from ablatable.config.tree import leaves, unmet
from ablatable.config.yaml_file import read, shown
from ablatable.errors import InputError, nearest

_KEYS = ("title", "shrink", "set")


@dataclass(frozen=True)
class Scale:
    """``shrink`` multiplies every field whose axis names the factor; ``settings`` replace values."""

    name: str
    title: str
    path: Path
    shrink: dict[str, Fraction]
    settings: Layer


def factors() -> dict[str, list[str]]:
    """The shrink factors there are, each with the paths it multiplies."""
    found: dict[str, list[str]] = {}
    for known in leaves().values():
        if known.axis is not None and known.axis.scales is not None:
            found.setdefault(known.axis.scales, []).append(known.path)
    return found


def load_scale(name: str) -> Scale:
    """Read ``experiments/scales/<name>.yaml``.

    Raises:
        InputError: unknown scale, key or factor, or a factor that is not a positive fraction.
    """
    path = find("experiments/scales", name)
    document = read(path)
    for key in document.data:
        if key not in _KEYS:
            raise InputError(f"{document.where(str(key))}: unknown key '{key}' in a scale{nearest(str(key), _KEYS)}")
    given: object = document.data.get("shrink") or {}
    if not isinstance(given, dict):
        raise InputError(f"{document.where('shrink')}: shrink takes `factor: fraction` lines, such as width: 1/4")
    shrink: dict[str, Fraction] = {}
    for factor, value in cast(dict[Any, Any], given).items():
        factor = str(factor)
        where = document.where("shrink", factor)
        if factor not in factors():
            raise InputError(
                f"{where}: unknown shrink factor '{factor}'{nearest(factor, factors())} (known: {', '.join(factors())})"
            )
        shrink[factor] = _fraction(value, where, factor)
    settings = from_document(document, ("set",)) if document.data.get("set") else {}
    return Scale(path.stem, str(document.data.get("title", path.stem)), path, shrink, settings)


def _fraction(value: Any, where: str, factor: str) -> Fraction:
    try:
        fraction = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        fraction = Fraction(0)
    if fraction <= 0:
        raise InputError(f"{where}: shrink.{factor}={value} is not a positive fraction; write for example 1/4")
    return fraction


def apply(scale: Scale, composed: Layer, row: Layer, kept: Collection[str] = ()) -> list[Layer]:
    """Return the layers a scale adds on top of ``composed`` (all layers below it, the row's included).

    The scale leaves the paths in ``kept`` alone. What a choice of the row, or one that is kept, leaves without meaning
    (the vocabulary's size where pieces are bytes) is not set.

    Raises:
        InputError: a shrunk value that is not whole, or a row's own setting that the scale would undo.
    """
    settings = {path: setting for path, setting in scale.settings.items() if path not in kept}
    for path in row:
        if path in settings:
            raise InputError(
                f"{row[path].where}: {path} is what this row changes, and the scale {scale.name} replaces it "
                f"({settings[path].where}); use a shrink factor there, or 'fixed' in place of 'set' in the row"
            )
    shrunk: Layer = {}
    for factor, fraction in scale.shrink.items():
        for path in factors()[factor]:
            if path in settings or path in kept:
                continue
            value = value_in(composed, path)
            if value is not None and unmet(path, lambda other: value_in(composed, other)) is None:
                shrunk[path] = _multiply(scale, path, value, fraction, composed)
    merged = {**composed, **settings}
    switched_off = {
        path
        for path in settings
        if (need := unmet(path, lambda other: value_in(merged, other))) is not None
        and (need.path in row or need.path in kept)
    }
    return [shrunk, {path: setting for path, setting in settings.items() if path not in switched_off}]


def _multiply(scale: Scale, path: str, value: Any, fraction: Fraction, composed: Layer) -> Setting:
    origin = composed[path].where if path in composed else shown(scale.path)
    if not isinstance(value, int):
        raise InputError(f"{origin}: {path}={value} must be a whole number")
    result = value * fraction
    if result.denominator != 1 or result < 1:
        raise InputError(
            f"{origin}: {path}={value} times {fraction} (scale {scale.name}) is {float(result):g}, not a whole number; "
            "choose another value or another factor"
        )
    return Setting(int(result), f"{origin} at scale {scale.name}")
