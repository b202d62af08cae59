"""A small picture of one attention, for trackers: every finished run makes one, so it is drawn in milliseconds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ablatable.analysis.attention.maps import AttentionMaps, Head

_CELL = 12
"""Pixels of a weight's square."""
_GAP = 14
_FONT = Path("mpl-data", "fonts", "ttf", "DejaVuSans.ttf")


def thumbnail(maps: AttentionMaps, path: Path) -> None:
    """Write the heads of the last layer side by side as PNG: a row a query, a column a key, black is weight 1."""
    last = max(head.layer for head in maps.heads)
    heads = [head for head in maps.heads if head.layer == last]
    font = _font()
    left = _GAP + max(_width(name, font) for name in maps.queries)
    below = _GAP + max(_width(name, font) for name in maps.keys)
    wide, high = _CELL * len(maps.keys), _CELL * len(maps.queries)
    picture = Image.new("L", (left + len(heads) * (wide + _GAP), 2 * _GAP + high + below), 255)
    draw = ImageDraw.Draw(picture)
    draw.text((2, 1), f"{maps.kind}, layer {last}", 0, font)
    for row, name in enumerate(maps.queries):
        draw.text((left - 4, 2 * _GAP + row * _CELL), name, 0, font, anchor="ra")
    names = _upright(maps.keys, below, font)
    for number, head in enumerate(heads):
        x = left + number * (wide + _GAP)
        draw.text((x, _GAP), f"head {head.head}", 0, font)
        picture.paste(_squares(head), (x, 2 * _GAP))
        draw.rectangle((x - 1, 2 * _GAP - 1, x + wide, 2 * _GAP + high), outline=160)
        picture.paste(names, (x, 2 * _GAP + high + 2))
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)


def _squares(head: Head) -> Image.Image:
    weights = np.asarray(head.weights, dtype=np.float32)
    shades = np.round(255 * (1 - weights.clip(0, 1))).astype(np.uint8)
    return Image.fromarray(np.kron(shades, np.ones((_CELL, _CELL), dtype=np.uint8)))


def _upright(names: list[str], length: int, font: ImageFont.FreeTypeFont) -> Image.Image:
    """The keys' names, each read from below in its column."""
    lying = Image.new("L", (length, _CELL * len(names)), 255)
    draw = ImageDraw.Draw(lying)
    for column, name in enumerate(names):
        draw.text((length - 4, column * _CELL), name, 0, font, anchor="ra")
    return lying.transpose(Image.Transpose.ROTATE_90)


def _width(text: str, font: ImageFont.FreeTypeFont) -> int:
    return round(font.getlength(text)) + 4


def _font() -> ImageFont.FreeTypeFont:
    """The font of the other pictures, which comes with matplotlib; found without importing that."""
    found = importlib.util.find_spec("matplotlib")
    assert found is not None
    assert found.origin is not None
    return ImageFont.truetype(str(Path(found.origin).parent / _FONT), 10)
