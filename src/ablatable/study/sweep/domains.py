"""What one searched setting may be: a few values, or an interval; from the file, or from what its axis declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ablatable.config.catalogue import check_corpus
from ablatable.config.layers import said
from ablatable.config.scale import Scale
from ablatable.config.tree import Leaf, leaf, sections, values_of
from ablatable.errors import InputError
from ablatable.study.sweep.schema import Entry, Number
from ablatable.study.values import Setting

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Point: TypeAlias = Mapping[str, Setting]
"""Values of the searched settings that mean something, by path."""


@dataclass(frozen=True)
class Choice:
    """One of a few values."""

    values: tuple[Setting, ...]

    @property
    def listed(self) -> tuple[Setting, ...]:
        """The values a grid goes through."""
        return self.values

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.values)

    def distribution(self) -> BaseDistribution:
        """As Optuna stores it."""
        from optuna.distributions import CategoricalDistribution

        return CategoricalDistribution(self.values)

    def __str__(self) -> str:
        return "{" + ", ".join(said(value) for value in self.values) + "}"


@dataclass(frozen=True)
class Interval:
    """Numbers from `low` to `high`, both included; `whole`: integers only."""

    low: Number
    high: Number
    log: bool = False
    step: Number | None = None
    whole: bool = False

    @property
    def listed(self) -> tuple[Setting, ...] | None:
        """The values a grid goes through; None where there is no telling which."""
        if self.log or (self.step is None and not self.whole):
            return None
        step = 1 if self.step is None else self.step
        kind = int if self.whole else float
        return tuple(kind(self.low + n * step) for n in range(self.count or 0))

    @property
    def count(self) -> int | None:
        """Number of values; None: as many as there are floating-point numbers."""
        if self.step is not None:
            return round((self.high - self.low) / self.step) + 1
        return int(self.high) - int(self.low) + 1 if self.whole else None

    def distribution(self) -> BaseDistribution:
        """As Optuna stores it."""
        from optuna.distributions import FloatDistribution, IntDistribution

        if self.whole:
            step = 1 if self.step is None else int(self.step)
            return IntDistribution(int(self.low), int(self.high), log=self.log, step=step)
        return FloatDistribution(float(self.low), float(self.high), log=self.log, step=self.step)

    def __str__(self) -> str:
        extra = ", log" if self.log else "" if self.step is None else f", step {self.step:g}"
        return f"[{self.low:g}, {self.high:g}{extra}]"


Domain: TypeAlias = Choice | Interval


def domain_of(path: str, entry: Entry, scale: Scale | None, where: str, *, grid: bool) -> Domain:
    """The values of one searched setting.

    Args:
        path: of the setting.
        entry: what the file says about it.
        scale: shrinks what the axis declares, which is at paper size; what the file says is taken as it stands.
        where: file and line.
        grid: prefer the values worth trying to the interval.

    Raises:
        InputError: a value out of the setting's bounds, or an axis that declares nothing to search.
    """
    known = leaf(path, where)
    if entry.values:
        for value in entry.values:
            check_value(path, value, where)
        return Choice(entry.values)
    if entry.low is None or entry.high is None:
        return _declared(known, scale, where, grid=grid)
    whole = is_whole(known)
    if whole and not all(isinstance(number, int | None) for number in (entry.low, entry.high, entry.step)):
        raise InputError(f"{where}: {path} is a whole number; give whole 'low', 'high' and 'step'")
    if not whole and not _is_number(known):
        raise InputError(f"{where}: {path} is no number; give its 'values'{_worth_trying(path)}")
    check_value(path, entry.low, where)
    check_value(path, entry.high, where)
    return Interval(entry.low, entry.high, entry.log, entry.step, whole)


def check_value(path: str, value: Any, where: str) -> None:
    """Refuse what the setting can't be, whatever the others are.

    Raises:
        InputError: a wrong type, or out of bounds.
    """
    known = leaf(path, where)
    if path == "data.corpus":
        check_corpus(str(value), where)
    try:
        _adapter(path).validate_python(value)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        bounds = f" (bounds: {known.limits})" if known.limits else ""
        raise InputError(
            f"{where}: {path}={said(value)} is not possible: {reason[0].lower()}{reason[1:]}{bounds}"
        ) from error


def _adapter(path: str) -> TypeAdapter[Any]:
    section, _, name = path.rpartition(".")
    cls: Any = sections()[section]
    info = cls.__pydantic_fields__[name]
    # Needs and Operational among the metadata mean nothing to pydantic; bounds and Axis do.
    declared = cast(Any, Annotated)[(info.annotation, Field(), *info.metadata)]
    return TypeAdapter(declared, config=ConfigDict(strict=True, allow_inf_nan=False))


def _declared(known: Leaf, scale: Scale | None, where: str, *, grid: bool) -> Domain:
    axis, path = known.axis, known.path
    if axis is None:
        raise InputError(f"{where}: {path} declares no range; give 'values', or 'low' and 'high'")
    values = values_of(path)
    if not axis.search and not values:
        raise InputError(f"{where}: the axis of {path} declares no range; give 'values', or 'low' and 'high'")
    factor = _shrink(known, scale, where)
    if axis.search and not (grid and values):
        low, high = (_shrunk(bound, factor, path, where) for bound in axis.search[:2])
        return Interval(low, high, log="log" in axis.search[2:], whole=is_whole(known))
    return Choice(tuple(_shrunk(value, factor, path, where) for value in values))


def _shrink(known: Leaf, scale: Scale | None, where: str) -> Fraction:
    if scale is None or known.axis is None or known.axis.scales is None:
        return Fraction(1)
    if known.path in scale.settings:
        raise InputError(
            f"{where}: the axis of {known.path} declares its range at paper size and the scale {scale.name} replaces "
            "that setting; give 'values', or 'low' and 'high'"
        )
    return scale.shrink.get(known.axis.scales, Fraction(1))


def _shrunk(value: Any, factor: Fraction, path: str, where: str) -> Any:
    if factor == 1 or value is None:
        return value
    result = value * factor
    if result.denominator != 1 or result < 1:
        raise InputError(
            f"{where}: the axis of {path} declares {value}, which shrunk by {factor} is not a whole number; "
            "give 'values', or 'low' and 'high'"
        )
    return int(result)


def is_whole(known: Leaf) -> bool:
    """Whether a setting is a whole number."""
    kinds = (known.annotation, *get_args(known.annotation))
    return int in kinds and float not in kinds


def _is_number(known: Leaf) -> bool:
    return float in (known.annotation, *get_args(known.annotation))


def _worth_trying(path: str) -> str:
    values = values_of(path)
    return f", such as [{', '.join(said(value) for value in values[:3])}]" if values else ""
