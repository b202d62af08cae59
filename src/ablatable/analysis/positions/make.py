"""`ablatable analyse positions`: measured, drawn, written, and said in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ablatable.analysis import output
from ablatable.analysis.positions import pictures, relative_pictures
from ablatable.analysis.positions.encodings import Encodings
from ablatable.analysis.positions.measure import PositionsAnalysis, of_kinds, of_run


def measure(run: Path | None, cache: Path, count: int, seed: int) -> tuple[PositionsAnalysis, list[Encodings]]:
    """Measure a run's positions, or, without a run, the kinds that need no training."""
    return of_kinds(count, seed) if run is None else of_run(run, cache, count, seed)


def write(made: PositionsAnalysis, tables: list[Encodings], folder: Path) -> list[Path]:
    """Write the data and the pictures and return their paths."""
    paths = [output.write(folder, made)]
    if tables:
        paths += pictures.draw_encodings(tables, made.similarities, folder, made.run)
    for found in made.rotations:
        paths += pictures.draw_rotation(found, folder, f"rotation-{found.layout}", made.run)
    for found in made.decays:
        paths += relative_pictures.draw_decay(found, folder, made.run)
    if made.biases or made.buckets:
        paths += relative_pictures.draw_biases(made.biases, made.buckets, folder, made.run)
    if made.vectors:
        paths += relative_pictures.draw_vectors(made.vectors, folder, made.run)
    return paths


def to_text(made: PositionsAnalysis) -> str:
    """What was found, a line each."""
    return "\n".join(_lines(made))


def _lines(made: PositionsAnalysis) -> Iterator[str]:
    yield f"{'Kinds of positions' if made.run is None else f'Run {made.run}'}, {made.positions} positions"
    for one in made.similarities:
        spread = max(high - low for high, low in zip(one.largest, one.least, strict=True))
        name = one.name if one.stack is None else f"{one.name}, {one.stack}"
        middle = len(one.offsets) // 2
        yield (
            f"  {name}: product {one.product[0]:.4g} at offset 0, {one.product[1]:.4g} at 1, "
            f"{one.product[middle]:.4g} at {middle}; at one offset it varies by up to {spread:.2g}"
        )
    for one in made.rotations:
        for turn in one.turns:
            yield (
                f"  {one.layout}: PE(p + {turn.offset}) from PE(p) by fitted 2 x 2 maps, error on unseen positions "
                f"{turn.residual:.1e}; maps differ from rotations by {turn.from_rotation:.1e}; the model's "
                f"float32 table by {turn.float32:.1e}"
            )
    for one in made.decays:
        far = len(one.offsets) - 1
        yield (
            f"  rope, d_k {one.d_k}: a query against itself keeps {one.derived[1]:.2f} at offset 1, "
            f"{one.derived[far]:.2f} at {far}; the derived mean lies in every interval: {'yes' if one.holds else 'no'}"
        )
    for one in made.biases:
        ends = ", ".join(f"{values[0]:.3g}" for values in one.heads)
        yield f"  {one.kind}, {one.stack}: bias of each head at offset {one.offsets[0]}: {ends}"
    for one in made.vectors:
        longest = max(zip(one.key_lengths, one.offsets, strict=True))
        yield (
            f"  shaw, {one.stack}, layer {one.layer}: longest key vector {longest[0]:.2f}, at offset {longest[1]}; "
            f"at the clip {one.key_lengths[0]:.2f}"
        )
