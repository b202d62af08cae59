"""Pictures of what relative kinds do to a score, by offset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from ablatable.analysis.positions.relative import Biases, Buckets, Decay, Vectors
from ablatable.analysis.style import REFERENCE, SEQUENTIAL, drawing, figure, of_run, save, series

_OFFSET = "offset (key minus query)"
_MARKS = 8
"""Marks on a line, so that lines differ in grey and none is drowned in marks."""


def _offsets(axes: Axes) -> None:
    axes.set_xlabel(_OFFSET)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_decay(found: Decay, folder: Path, run: str | None) -> list[Path]:
    """The score of a vector with itself, rotated apart."""
    with drawing():
        made = figure(7.5, 4.4)
        axes = made.subplots()
        low, high = [one.low for one in found.measured], [one.high for one in found.measured]
        axes.fill_between(found.offsets, low, high, color="0.8", label=f"measured, {found.level:.0%} intervals at once")
        style = series(0)
        axes.plot(found.offsets, found.derived, color=style["color"], label="derived: mean of cos(k · frequency)")
        second = series(1)
        axes.plot(
            found.offsets, found.bound, color=second["color"], linestyle=second["linestyle"],
            label="mean |S_j| of Su et al. 2021, over that at k = 0",
        )  # fmt: skip
        axes.axhline(0, **REFERENCE)
        title = f"RoPE: a query against itself k positions away (d_k {found.d_k}, base {found.base:,.0f})"
        axes.set_title(of_run(title, run))
        axes.set_xlabel("offset k (positions)")
        axes.set_ylabel("score, as a share of that at k = 0")
        axes.legend(loc="upper right")
        return save(made, folder, "rope")


def draw_biases(found: list[Biases], buckets: list[Buckets], folder: Path, run: str | None) -> list[Path]:
    """A panel for each stack's biases, and one for T5's buckets where they are shown untrained."""
    panels = len(found) + bool(buckets)
    with drawing():
        made = figure(1.2 + 5.4 * panels, 4.6)
        made.suptitle(of_run("What is added to a score, by offset" if found else "Buckets of offsets", run))
        axes = list(made.subplots(1, panels, squeeze=False).flat)
        for one, place in zip(found, axes, strict=False):
            _draw_heads(place, one)
        if buckets:
            _draw_buckets(axes[-1], buckets)
        return save(made, folder, "biases")


def _draw_heads(axes: Axes, one: Biases) -> None:
    for head, values in enumerate(one.heads):
        style = series(head)
        every = max(1, len(one.offsets) // _MARKS)
        style["drawstyle"] = "steps-mid" if one.kind == "t5" else "default"
        axes.plot(
            one.offsets,
            values,
            **style,
            markevery=(head * every // len(one.heads), every),
            label=str(head + 1),
        )
    axes.set_title(f"{'ALiBi' if one.kind == 'alibi' else 'T5'}, {one.stack}")
    _offsets(axes)
    axes.set_ylabel("bias")
    axes.legend(title="head", ncols=2 if len(one.heads) <= 2 * _MARKS else 4, loc="best")


def _draw_buckets(axes: Axes, buckets: list[Buckets]) -> None:
    for index, one in enumerate(buckets):
        style = series(index)
        axes.plot(
            one.offsets, one.rows, color=style["color"], linestyle=style["linestyle"], drawstyle="steps-mid",
            label=f"{one.stack}, {one.buckets} buckets",
        )  # fmt: skip
    axes.set_title("T5: which trained number an offset gets")
    _offsets(axes)
    axes.set_ylabel("bucket (row of the table)")
    axes.legend(loc="best")


def draw_vectors(found: list[Vectors], folder: Path, run: str | None) -> list[Path]:
    """Lengths of Shaw's vectors by offset, a row a stack, and cosines of the first layer's key vectors."""
    stacks = list(dict.fromkeys(one.stack for one in found))
    with drawing():
        made = figure(13, 4.2 * len(stacks))
        made.suptitle(of_run("Shaw et al.: trained vectors of clipped offsets", run))
        grid = made.subplots(len(stacks), 3, squeeze=False, width_ratios=(1.2, 1.2, 1))
        for row, stack in enumerate(stacks):
            layers = [one for one in found if one.stack == stack]
            for place, name in ((grid[row, 0], "key"), (grid[row, 1], "value")):
                _draw_lengths(place, layers, name)
            image = _draw_cosines(grid[row, 2], layers[0])
            made.colorbar(image, ax=grid[row, 2], label="cosine")
        return save(made, folder, "vectors")


def _draw_lengths(axes: Axes, layers: list[Vectors], name: str) -> None:
    for index, one in enumerate(layers):
        lengths = one.key_lengths if name == "key" else one.value_lengths
        axes.plot(one.offsets, lengths, **series(index), label=f"layer {one.layer}")
    axes.set_title(f"{layers[0].stack}: length of the {name} vectors")
    _offsets(axes)
    axes.set_ylabel("length")
    axes.set_ylim(bottom=0)
    axes.legend(loc="best")


def _draw_cosines(axes: Axes, one: Vectors) -> AxesImage:
    low, high = one.offsets[0] - 0.5, one.offsets[-1] + 0.5
    image = axes.imshow(
        np.array(one.key_cosines),
        cmap=SEQUENTIAL,
        vmin=-1,
        vmax=1,
        extent=(low, high, high, low),
        interpolation="nearest",
    )
    axes.set_title(f"{one.stack}, layer {one.layer}: cosines of key vectors")
    axes.set_xlabel("offset")
    axes.set_ylabel("offset")
    for side in (axes.xaxis, axes.yaxis):
        side.set_major_locator(MaxNLocator(integer=True))
    return image
