"""Head maps as pictures: a grid of heads with the sentence's pieces along its edges, or one head large."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from ablatable.analysis.attention.maps import AttentionMaps, Head, SentenceAttention
from ablatable.analysis.style import SEQUENTIAL, drawing, figure, save
from ablatable.nn.recorder import NAMES, Kind

_ROWS: dict[Kind, str] = {
    "encoder-self": "source piece",
    "decoder-self": "target piece read",
    "cross": "target piece predicted next",
}
_COLUMNS: dict[Kind, str] = {
    "encoder-self": "source piece attended to",
    "decoder-self": "target piece attended to",
    "cross": "source piece attended to",
}
_ABREAST = 8
"""Heads side by side."""
_POINTS = 72


def draw(made: SentenceAttention, folder: Path, layer: int | None = None, head: int | None = None) -> list[Path]:
    """Draw each attention's heads; those of one layer, or of one number, alone where asked for."""
    name = "".join(f"-{word}{number}" for word, number in (("layer", layer), ("head", head)) if number is not None)
    paths: list[Path] = []
    for maps in made.maps:
        chosen = [one for one in maps.heads if layer in (None, one.layer) and head in (None, one.head)]
        with drawing():
            paths += save(_picture(made, maps, chosen), folder, f"{maps.kind}{name}")
    return paths


def _picture(made: SentenceAttention, maps: AttentionMaps, heads: list[Head]) -> Figure:
    columns = min(_ABREAST, max(sum(one.layer == heads[0].layer for one in heads), 1))
    rows = -(-len(heads) // columns)
    side = _side(len(heads), max(len(maps.queries), len(maps.keys)))
    high, wide = (side * n / max(len(maps.queries), len(maps.keys)) for n in (len(maps.queries), len(maps.keys)))
    wide, high = max(wide, 0.7), max(high, 0.7)
    # Beside the maps: piece names, titles and the bar of colours.
    across = max(columns * (wide + 0.15) + 2.2, 7.5)
    up = rows * (high + 0.35) + 2.0
    picture = figure(across, up)
    words = max(12.0, min(0.8 * across, 2.0 * up))  # a large grid is looked at from farther away
    picture.suptitle(_title(made, maps, int(across * 125 / words)), fontsize=words, parse_math=False)
    grid = picture.subplots(rows, columns, squeeze=False)
    size = min(11.0, 0.8 * _POINTS * side / max(len(maps.queries), len(maps.keys)))
    image: AxesImage | None = None
    for number, axes in enumerate(grid.flat):
        if number >= len(heads):
            axes.set_axis_off()
            continue
        image = _map(axes, heads[number])
        _names(axes, maps, size, left=number % columns == 0, below=number + columns >= len(heads))
    picture.supxlabel(f"{_COLUMNS[maps.kind]} (key)", fontsize=words)
    picture.supylabel(f"{_ROWS[maps.kind]} (query)", fontsize=words)
    if image is not None:
        bar = picture.colorbar(image, ax=list(grid.flat), shrink=min(1.0, 3 / (rows * high)), pad=0.02)
        bar.set_ticks([0, 0.05, 0.2, 0.5, 1.0])
        bar.set_label("attention weight (square-root scale)")
    return picture


def _side(heads: int, positions: int) -> float:
    """Inches of a map: enough to read the pieces' names, not so many that a grid outgrows a page's zoom."""
    if heads == 1:
        return min(8.0, max(2.5, 0.22 * positions))
    return min(3.4, max(1.4, 0.12 * positions))


def _title(made: SentenceAttention, maps: AttentionMaps, letters: int) -> str:
    source = textwrap.shorten(f"source: {made.source}", letters, placeholder=" ...")
    target = textwrap.shorten(f"target ({made.origin}): {made.target}", letters, placeholder=" ...")
    seen = "" if made.causal or maps.kind != "decoder-self" else ", the future not masked"
    return f"{NAMES[maps.kind].capitalize()}{seen}, run {made.run}\n{source}\n{target}"


def _map(axes: Axes, head: Head) -> AxesImage:
    # A square root, so that weights of a few percent are still seen.
    image = axes.imshow(
        np.array(head.weights), cmap=SEQUENTIAL, norm=PowerNorm(0.5, 0, 1), aspect="auto", interpolation="nearest"
    )
    axes.set_title(f"layer {head.layer}, head {head.head}", fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color("0.6")
    return image


def _names(axes: Axes, maps: AttentionMaps, size: float, left: bool, below: bool) -> None:
    axes.tick_params(length=0, pad=2)
    axes.set_xticks(range(len(maps.keys)) if below else [])
    axes.set_yticks(range(len(maps.queries)) if left else [])
    if below:
        axes.set_xticklabels(maps.keys, rotation=90, fontsize=size, parse_math=False)
    if left:
        axes.set_yticklabels(maps.queries, fontsize=size, parse_math=False)
