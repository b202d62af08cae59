"""What a design choice declares about itself, beside its type and default.

An :class:`Axis` sits in the ``Annotated`` metadata of a config field. Overrides, ``ablatable axes``, search spaces,
table columns and the generated tests are all read from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Effect(StrEnum):
    """What changing a choice may change; the honesty tests hold each choice to exactly what it declares."""

    FORWARD = "forward"
    """Evaluation-mode logits change for the same parameters."""
    TRAIN_ONLY = "train-only"
    """Only training-mode outputs or the training loss change; evaluation and NLL stay."""
    INIT = "init"
    """Initial parameter values change."""
    PARAMS = "params"
    """The set or the shapes of the parameters change."""
    GRADIENT = "gradient"
    """The update made from a gradient changes."""
    DATA = "data"
    """What the model reads changes: text, pieces or batches."""
    DECODE = "decode"
    """Only the search for a translation changes."""


@dataclass(frozen=True)
class Needs:
    """Another field must have one of these values (or be above a bound) for this one to mean anything."""

    path: str
    one_of: tuple[Any, ...] = ()
    above: float | None = None

    def met(self, value: Any) -> bool:
        """Tell whether ``value`` of the other field makes this field active.

        A value that is no number passes a bound here: what is wrong with it is said where it is checked.
        """
        if self.above is not None:
            return value > self.above if isinstance(value, int | float) else value is not None
        return value in self.one_of

    def __str__(self) -> str:
        if self.above is not None:
            return f"{self.path} above {self.above:g}"
        return f"{self.path}={'|'.join(str(value) for value in self.one_of)}"


@dataclass(frozen=True)
class Axis:
    """One design choice: its label in tables, its source, what it changes, values worth trying.

    ``scales`` names the shrink factor of a scale (``width``, ``depth``, ...) that multiplies this field.
    ``search`` is the range a sweep uses when it names none: ``(low, high)`` or ``(low, high, "log")``.
    """

    label: str
    section: str
    changes: frozenset[Effect]
    values: tuple[Any, ...] = ()
    scales: str | None = None
    search: tuple[Any, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Operational:
    """Marks a field that says how or where to run; it is not part of the run's identity."""


def changes(*effects: Effect) -> frozenset[Effect]:
    """Spell the effects of an axis."""
    return frozenset(effects)
