"""What the measurements say, beside what the paper says: a pure function of the file of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from ablatable.analysis.complexity.crossing import Crossing, crossing
from ablatable.analysis.complexity.fit import Exponent, exponent
from ablatable.analysis.complexity.measurements import Measurements
from ablatable.analysis.complexity.settings import ALONG, COMPARED, Along, Point
from ablatable.analysis.complexity.theory import LAYERS, PATHS, path_length
from ablatable.analysis.intervals import each_of

Quantity = Literal["operations", "time", "memory"]
EXAMPLES = {
    "self-attention": 0,
    "recurrent": 0,
    "convolutional": 3,
    "convolutional-centred": 3,
    "dilated": 3,
    "restricted": 9,
}
"""The k or r whose path lengths are shown one by one."""
EACH = each_of(len(ALONG) * sum(layer.exponents is not None for layer in LAYERS.values()))
"""The level of each interval of a time's exponent that makes all of those with a theory hold at once at LEVEL."""
EXACT = 1e-9
"""How far a counted exponent may be from the closed form: rounding alone."""


@dataclass(frozen=True)
class Power:
    """How one quantity of one layer grows.

    Args:
        layer: name in ``theory.LAYERS``.
        quantity: what grows.
        along: with n or with d.
        theory: the exponent it should have; None for the operations and the time of a sum of terms.
        fit: the exponent it has, of operations over all sizes, else over the asymptotic range; None where too few
            points lie there.
        holds: whether the theory's exponent lies in the interval of the time's leading term, or equals that of the
            operations; None
            without a fit or a theory, and for memory, of which the paper says nothing.
        rates: operations of the forward pass a second at either end of the range; for the time alone.
    """

    layer: str
    quantity: Quantity
    along: Along
    theory: int | None
    fit: Exponent | None
    holds: bool | None
    rates: tuple[float, float] | None


@dataclass(frozen=True)
class Counts:
    """What was counted in a layer.

    Args:
        layer: name in ``theory.LAYERS``.
        points: at how many (n, d).
        operations_equal: at how many the operations equal the closed form.
        steps_equal: at how many the products in a row do.
        first: the least n, and the products in a row there.
        last: the greatest n, likewise.
    """

    layer: str
    points: int
    operations_equal: int
    steps_equal: int
    first: tuple[int, int]
    last: tuple[int, int]


@dataclass(frozen=True)
class Lengths:
    """Maximum path lengths of one kind: how many were measured, how many equal the closed form, and one of them."""

    kind: str
    formula: str
    measured: int
    equal: int
    example: tuple[int, int, int]
    """n, size (k or r, 0: none), length."""


@dataclass(frozen=True)
class Summary:
    """The measured Table 1."""

    settings: dict[str, Any]
    machine: dict[str, Any]
    shared: float
    powers: list[Power]
    counts: list[Counts]
    paths: list[Lengths]
    crossings: list[Crossing]

    def power(self, layer: str, quantity: Quantity, along: Along) -> Power:
        """The one of that layer, quantity and direction."""
        return next(p for p in self.powers if (p.layer, p.quantity, p.along) == (layer, quantity, along))


def summarise(made: Measurements) -> Summary:
    """Fit, compare and count; equal measurements give an equal summary."""
    settings = made.settings
    return Summary(
        settings={name: value for name, value in vars(settings).items() if not isinstance(value, dict)},
        machine=made.machine,
        shared=made.shared,
        powers=[_power(made, layer, quantity, along) for layer in LAYERS for quantity, along in _GROWTHS],
        counts=[_counts(made, layer) for layer in LAYERS],
        paths=[_lengths(made, kind) for kind in PATHS],
        crossings=[
            crossing(layer, d, lengths, settings.operations, made.seconds)
            for layer in COMPARED
            if layer != "recurrent"
            for d, lengths in settings.crossing.items()
        ],
    )


_GROWTHS: list[tuple[Quantity, Along]] = [
    *(("operations", along) for along in ALONG),
    *(("time", along) for along in ALONG),
    ("memory", "n"),
]


def in_range(made: Measurements, layer: str, along: Along) -> list[Point]:
    """The points of a sweep that lie in the asymptotic range."""
    return [point for point in made.settings.sweep(layer, along) if made.settings.asymptotic(point, along)]


def size(point: Point, along: Along) -> int:
    """What the sweep changes."""
    return point[1] if along == "n" else point[2]


def values(made: Measurements, points: Sequence[Point], quantity: Quantity) -> list[float]:
    """One number a point: a count, bytes, or the median of its times in seconds."""
    if quantity == "operations":
        return [float(made.counts[point][0]) for point in points]
    if quantity == "memory":
        return [float(made.memory[point]) for point in points]
    return [median(made.seconds(point)) for point in points]


def _power(made: Measurements, layer: str, quantity: Quantity, along: Along) -> Power:
    counted = quantity == "operations"  # exact at every size, so there is no range to choose
    points = made.settings.counted(layer, along) if counted else in_range(made, layer, along)
    fit = exponent([size(point, along) for point in points], values(made, points, quantity), EACH)
    known = LAYERS[layer].exponents
    theory = None if known is None else known[ALONG.index(along)]
    if quantity == "memory":
        return Power(layer, quantity, along, LAYERS[layer].memory, fit, None, None)
    return Power(layer, quantity, along, theory, fit, _holds(fit, theory, quantity), _rates(made, points, quantity))


def _rates(made: Measurements, points: list[Point], quantity: Quantity) -> tuple[float, float] | None:
    if quantity != "time" or not points:
        return None
    ends = [points[0], points[-1]]
    first, last = (made.settings.operations(end) / s for end, s in zip(ends, values(made, ends, "time"), strict=True))
    return first, last


def _holds(fit: Exponent | None, theory: int | None, quantity: Quantity) -> bool | None:
    if fit is None or theory is None:
        return None
    if quantity == "operations":
        return abs(fit.straight.estimate - theory) < EXACT
    return theory in fit.leading


def _counts(made: Measurements, layer: str) -> Counts:
    found = sorted((point, *counts) for point, counts in made.counts.items() if point[0] == layer)
    steps = sorted((point[1], products) for point, _, products in found)
    return Counts(
        layer,
        len(found),
        sum(operations == made.settings.operations(point) for point, operations, _ in found),
        sum(products == LAYERS[layer].steps(n) for n, products in steps),
        steps[0],
        steps[-1],
    )


def _lengths(made: Measurements, kind: str) -> Lengths:
    found = [(n, size, length) for (one, n, size), length in sorted(made.paths.items()) if one == kind]
    equal = sum(length == path_length(kind, n, size) for n, size, length in found)
    example = max(one for one in found if one[1] == EXAMPLES[kind])
    return Lengths(kind, PATHS[kind], len(found), equal, example)
