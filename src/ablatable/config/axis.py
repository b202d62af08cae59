"""What a design choice declares about itself, beside its type and default.

An :class:`Axis` sits in the ``Annotated`` metadata of a config field. Overrides, ``ablatable axes``, search spaces,
table columns and the generated tests are all read from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self


class Effect(StrEnum):
    """What changing a choice may change; the honesty tests hold each choice to exactly what it declares."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Name an effect; ``meaning`` is one sentence without its full stop."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.meaning = meaning
        return made

    FORWARD = "forward", "evaluation-mode logits change for the same parameters"
    TRAIN_ONLY = "train-only", "only training-mode outputs or the training loss change; evaluation and NLL stay"
    INIT = "init", "initial parameter values change"
    PARAMS = "params", "the set or the shapes of the parameters change"
    GRADIENT = "gradient", "the update made from a gradient changes, or whether one is made"
    DATA = "data", "what the model reads changes: text, pieces or batches"
    DECODE = (
        "decode",
        "only what is made of a training changes: which weights are scored, how a translation is searched for",
    )


@dataclass(frozen=True)
class Needs:
    """Another field must have one of these values (none of these, or be above a bound) for this one to mean anything.

    A field with several needs means something only where all of them are met.
    """

    path: str
    one_of: tuple[Any, ...] = ()
    none_of: tuple[Any, ...] = ()
    above: float | None = None

    def met(self, value: Any) -> bool:
        """Tell whether ``value`` of the other field makes this field active.

        A value that is no number passes a bound here: what is wrong with it is said where it is checked.
        """
        if self.above is not None:
            return value > self.above if isinstance(value, int | float) else value is not None
        return value in self.one_of if self.one_of else value not in self.none_of

    def __str__(self) -> str:
        if self.above is not None:
            return f"{self.path} above {self.above:g}"
        if self.one_of:
            return f"{self.path}={_listed(self.one_of)}"
        return f"{self.path} other than {_listed(self.none_of)}"


def _listed(values: tuple[Any, ...]) -> str:
    return "|".join("null" if value is None else str(value).lower() for value in values)


@dataclass(frozen=True)
class Axis:
    """One design choice: its label in tables, its source, what it changes, values worth trying.

    ``choices`` names every value of a field that is one of a few names, each with where it comes from: the line a new
    value needs besides its class. Such a field takes no other value. ``values`` is what is worth trying elsewhere.
    ``companions`` are settings that one of the values is impossible without, by that value.
    ``scales`` names the shrink factor of a scale (``width``, ``depth``, ...) that multiplies this field.
    ``search`` is the range a sweep uses when it names none: ``(low, high)`` or ``(low, high, "log")``.
    """

    label: str
    section: str
    changes: frozenset[Effect]
    values: tuple[Any, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    companions: Mapping[Any, Mapping[str, Any]] = field(default_factory=dict[Any, Mapping[str, Any]])
    scales: str | None = None
    search: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.choices and not self.values:
            object.__setattr__(self, "values", tuple(self.choices))

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Hold a field with ``choices`` to them."""
        return handler(Literal[tuple(self.choices)] if self.choices else source)


@dataclass(frozen=True)
class Operational:
    """Marks a field that says how or where to run; it is not part of the run's identity."""


def changes(*effects: Effect) -> frozenset[Effect]:
    """Spell the effects of an axis."""
    return frozenset(effects)
