"""The space of a sweep: its settings in the order they depend on each other, and the points they make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ablatable.config.axis import Needs
from ablatable.config.tree import leaves, unmet
from ablatable.errors import InputError, nearest
from ablatable.study.sweep.domains import Choice, Domain, Point, check_value, domain_of
from ablatable.study.sweep.ground import Ground, check_searchable
from ablatable.study.sweep.schema import Sweep
from ablatable.study.values import Setting

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial


@dataclass(frozen=True)
class Parameter:
    """One searched setting. It is searched where all of `when` holds and what it `Needs` is met."""

    path: str
    domain: Domain
    when: Mapping[str, tuple[Setting, ...]]


@dataclass(frozen=True)
class Space:
    """All searched settings, each after those it depends on; `listed` are the points where the file lists them."""

    parameters: tuple[Parameter, ...]
    ground: Ground
    listed: tuple[Point, ...] | None = None

    def active(self, parameter: Parameter, point: Point) -> bool:
        """Whether a setting means something beside those already chosen."""
        if any(path not in point or point[path] not in allowed for path, allowed in parameter.when.items()):
            return False
        return unmet(parameter.path, lambda path: self._value(path, point)) is None

    def _value(self, path: str, point: Point) -> Any:
        return point[path] if path in point else self.ground.value(path)

    @property
    def size(self) -> int | None:
        """Number of points, conditions left out of account; None: no end."""
        if self.listed is not None:
            return len(self.listed)
        size = 1
        for parameter in self.parameters:
            count = parameter.domain.count
            if count is None:
                return None
            size *= count
        return size

    def points(self) -> Iterator[Point]:
        """Every point, in the order of the file: the last setting changes fastest. For a space whose values are listed.

        Raises:
            InputError: a setting without a list of values.
        """
        if self.listed is not None:
            yield from self.listed
        else:
            yield from self._below({}, 0)

    def _below(self, point: dict[str, Setting], depth: int) -> Iterator[Point]:
        if depth == len(self.parameters):
            yield dict(point)
            return
        parameter = self.parameters[depth]
        if not self.active(parameter, point):
            yield from self._below(point, depth + 1)
            return
        values = parameter.domain.listed
        if values is None:
            where = self.ground.places[parameter.path]
            raise InputError(f"{where}: a grid needs a list: give {parameter.path} 'values', or a 'step' without 'log'")
        for value in values:
            yield from self._below({**point, parameter.path: value}, depth + 1)

    def suggest(self, trial: Trial) -> Point:
        """Have a trial choose every setting that means something."""
        point: dict[str, Setting] = {}
        for parameter in self.parameters:
            if self.active(parameter, point):
                point[parameter.path] = _suggest(trial, parameter)
        return point

    def distributions(self, point: Point) -> dict[str, BaseDistribution]:
        """How a point's settings are stored."""
        return {
            parameter.path: parameter.domain.distribution() for parameter in self.parameters if parameter.path in point
        }

    def admits(self, point: Point) -> bool:
        """Whether a point from elsewhere belongs to the space: every setting that means something, each possible."""
        if self.listed is not None:
            return key(point) in {key(known) for known in self.listed}
        expected = [parameter for parameter in self.parameters if self.active(parameter, point)]
        if {parameter.path for parameter in expected} != set(point):
            return False
        return all(_contains(parameter.domain, point[parameter.path]) for parameter in expected)


def key(point: Point) -> str:
    """One text for equal points."""
    return json.dumps({path: point[path] for path in sorted(point)})


def _contains(domain: Domain, value: Setting) -> bool:
    if isinstance(domain, Choice):
        return value in domain.values
    return isinstance(value, int | float) and not isinstance(value, bool) and domain.low <= value <= domain.high


def _suggest(trial: Trial, parameter: Parameter) -> Setting:
    domain, path = parameter.domain, parameter.path
    if isinstance(domain, Choice):
        return trial.suggest_categorical(path, domain.values)
    if domain.whole:
        step = 1 if domain.step is None else int(domain.step)
        return trial.suggest_int(path, int(domain.low), int(domain.high), log=domain.log, step=step)
    return trial.suggest_float(path, float(domain.low), float(domain.high), log=domain.log, step=domain.step)


def space_of(sweep: Sweep, ground: Ground) -> Space:
    """Read a sweep's space.

    Raises:
        InputError: an unknown setting, a value out of its bounds, or a setting that would never mean anything.
    """
    if sweep.sampler.kind == "list":
        return _listed(sweep, ground)
    at = sweep.origin.where
    grid = sweep.sampler.kind == "grid"
    for path in sweep.space:
        check_searchable(path, at("space", path))
        if path in ground.fixed:
            raise InputError(
                f"{at('space', path)}: {path} is fixed too ({ground.fixed[path].where}); remove it from one of them"
            )
    parameters = {
        path: Parameter(
            path,
            domain_of(path, entry, ground.scale, at("space", path), grid=grid),
            {other: _values(value) for other, value in entry.when.items()},
        )
        for path, entry in sweep.space.items()
    }
    for parameter in parameters.values():
        _check_conditions(parameter, parameters, sweep, ground)
    return Space(_ordered(parameters, sweep), ground)


def _values(value: Setting | list[Setting]) -> tuple[Setting, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


def _listed(sweep: Sweep, ground: Ground) -> Space:
    at = sweep.origin.where
    values: dict[str, list[Setting]] = {}
    seen: dict[str, int] = {}
    for i, point in enumerate(sweep.points):
        if key(point) in seen:
            first = at("points", seen[key(point)])
            raise InputError(f"{at('points', i)}: this point is there twice (first at {first}); remove one")
        seen[key(point)] = i
        for path, value in point.items():
            where = at("points", i, path)
            check_searchable(path, where)
            check_value(path, value, where)
            if path in ground.fixed:
                raise InputError(f"{where}: {path} is fixed too ({ground.fixed[path].where}); remove it from one")
            if value not in values.setdefault(path, []):
                values[path].append(value)
    parameters = tuple(Parameter(path, Choice(tuple(found)), {}) for path, found in values.items())
    return Space(parameters, ground, sweep.points)


def _check_conditions(parameter: Parameter, parameters: Mapping[str, Parameter], sweep: Sweep, ground: Ground) -> None:
    """Conditions must be able to hold: on settings of the space, with values those may have."""
    for other, allowed in parameter.when.items():
        where = sweep.origin.where("space", parameter.path, "when", other)
        if other not in parameters:
            hint = nearest(other, parameters) or "; name a setting of this space"
            raise InputError(f"{where}: '{other}' is not searched here{hint}")
        for value in allowed:
            if not _contains(parameters[other].domain, value):
                raise InputError(f"{where}: {other} is never {value!r} here, but one of {parameters[other].domain}")
    need = _never_met(parameter.path, parameters, ground)
    if need is not None:
        where = sweep.origin.where("space", parameter.path)
        raise InputError(
            f"{where}: {parameter.path} means something only with {need}, which no point of this space has; "
            f"search {need.path} too, fix it, or remove {parameter.path}"
        )


def inert(paths: Iterable[str], ground: Ground) -> dict[str, Needs]:
    """Those of some settings that mean nothing whatever the others are, each with what it lacks."""
    found: dict[str, Needs] = {}
    left = list(paths)
    while True:
        for path in left:
            need = _lacking(path, left, ground)
            if need is not None:
                found[path] = need
        if not any(path in found for path in left):
            return found
        left = [path for path in left if path not in found]


def _lacking(path: str, searched: Sequence[str], ground: Ground) -> Needs | None:
    """As :func:`_never_met`, where every searched setting may be anything."""
    for need in leaves()[path].needs:
        if need.path not in searched and not need.met(ground.value(need.path)):
            return need
        above = _lacking(need.path, searched, ground)
        if above is not None:
            return above
    return None


def _never_met(path: str, parameters: Mapping[str, Parameter], ground: Ground) -> Needs | None:
    """The need that keeps a setting from ever meaning anything, however the others are chosen."""
    for need in leaves()[path].needs:
        searched = parameters.get(need.path)
        possible = need.met(ground.value(need.path)) if searched is None else _can_meet(need, searched.domain)
        if not possible:
            return need
        above = _never_met(need.path, parameters, ground)
        if above is not None:
            return above
    return None


def _can_meet(need: Needs, domain: Domain) -> bool:
    if isinstance(domain, Choice):
        return any(need.met(value) for value in domain.values)
    if need.above is not None:
        return need.met(domain.high)
    return not need.one_of or any(_contains(domain, value) for value in need.one_of)


def _ordered(parameters: Mapping[str, Parameter], sweep: Sweep) -> tuple[Parameter, ...]:
    """Each setting after those it depends on; otherwise in the file's order."""
    order: dict[str, Parameter] = {}

    def visit(path: str, below: tuple[str, ...]) -> None:
        if path in below:
            where = sweep.origin.where("space", path)
            raise InputError(f"{where}: {path} depends on itself ({' on '.join((*below, path))}); change a 'when'")
        if path in order:
            return
        above = _depends_on(parameters[path])
        for other in parameters:
            if other in above:
                visit(other, (*below, path))
        order[path] = parameters[path]

    for path in parameters:
        visit(path, ())
    return tuple(order.values())


def _depends_on(parameter: Parameter) -> set[str]:
    found = set(parameter.when)
    waiting = [parameter.path]
    while waiting:
        for need in leaves()[waiting.pop()].needs:
            if need.path not in found:
                found.add(need.path)
                waiting.append(need.path)
    return found
