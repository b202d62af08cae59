"""`ablatable analyse scores`: measured, drawn, written, and said in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ablatable.analysis import output
from ablatable.analysis.intervals import Interval
from ablatable.analysis.scores import components, initial, pictures, trained
from ablatable.config.model import Model


@dataclass(frozen=True)
class ScoresAnalysis:
    """Everything that was measured; ``run`` is None where no run was named."""

    seed: int
    components: components.Components
    initial: initial.Initial
    run: trained.Trained | None


def measure(seed: int, run: Path | None, cache: Path, sentences: int) -> ScoresAnalysis:
    """Measure footnote 4, the paper's base model at initialisation, and a run. A run that can't be read is told first.

    Raises:
        InputError: what reading a run raises.
    """
    of_run = None if run is None else trained.measure(run, cache, sentences)
    return ScoresAnalysis(seed, components.measure(seed), initial.measure(Model(), seed), of_run)


def write(made: ScoresAnalysis, folder: Path) -> list[Path]:
    """Write the data and the pictures and return their paths."""
    paths = [output.write(folder, made)]
    paths += pictures.draw_variance(made.components, made.initial, folder)
    paths += pictures.draw_softmax(made.components, folder)
    if made.run is not None:
        paths += pictures.draw_run(made.run, folder)
    return paths


def to_text(made: ScoresAnalysis) -> str:
    """What was found, a line each."""
    lines = [*_components(made.components), *_initial(made.initial)]
    if made.run is not None:
        lines += _run(made.run)
    return "\n".join(lines)


def _components(found: components.Components) -> Iterator[str]:
    held, all = sum(one.holds for one in found.variances), len(found.variances)
    yield (
        f"Independent components, mean 0 and variance 1, {found.pairs:,} pairs: {held} of {all} derived variances lie "
        f"in their intervals (all at once with {found.level:.0%} confidence)"
    )
    for one in found.exponents:
        yield f"  {one.score:12} {one.distribution:8} variance ~ d_k^{_said(one.slope)}, derived {one.derived:.0f}"
    widest = max(one.d_k for one in found.saturation)
    for one in found.saturation:
        if one.d_k in (64, widest):
            yield (
                f"  {one.score:12} d_k {one.d_k:<5} attends to {one.effective.estimate:4.1f} of {one.keys} keys, "
                f"largest weight {one.largest.estimate:.2f}, gradient {one.gradient.estimate:.3f}"
            )


def _initial(found: initial.Initial) -> Iterator[str]:
    held, all = sum(one.holds for one in found.variances), len(found.variances)
    yield (
        f"The model at initialisation, d_model {found.d_model}, {found.seeds} seeds: {held} of {all} derived variances "
        "lie in their intervals"
    )
    places = dict.fromkeys((one.kind, one.layer) for one in found.variances)
    for kind, layer in places:
        here = [one for one in found.variances if (one.kind, one.layer) == (kind, layer)]
        derived, measured = (
            sum(values) / len(here)
            for values in zip(*((o.derived / o.d_k, o.measured / o.d_k) for o in here), strict=True)
        )
        yield f"  {kind:12} layer {layer}: {measured:.3f} d_k measured, {derived:.3f} d_k derived"


def _run(found: trained.Trained) -> Iterator[str]:
    yield f"Run {found.run}, d_k {found.d_k}, {found.sentences} development sentences, means over heads:"
    names = list(found.trained[0].softmax)
    places = dict.fromkeys((one.kind, one.layer) for one in found.trained)
    for kind, layer in places:
        before, after = (
            [one for one in heads if (one.kind, one.layer) == (kind, layer)] for heads in (found.initial, found.trained)
        )
        variance = [sum(one.score_variance for one in heads) / len(heads) for heads in (before, after)]
        attended = ", ".join(
            f"{name} {sum(one.softmax[name]['effective'] for one in after) / len(after):.1f}" for name in names
        )
        yield (
            f"  {kind:12} layer {layer}: variance of scores {variance[0]:.2f} -> {variance[1]:.2f}; positions attended "
            f"to: {attended}"
        )


def _said(found: Interval) -> str:
    return f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
