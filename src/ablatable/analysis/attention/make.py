"""`ablatable analyse attention`: what was seen in one sentence, drawn, written, and said in words."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from ablatable.analysis import output
from ablatable.analysis.attention import pictures
from ablatable.analysis.attention.maps import SentenceAttention
from ablatable.analysis.attention.statistics import HeadStatistics
from ablatable.nn.recorder import NAMES


def write(made: SentenceAttention, folder: Path, layer: int | None, head: int | None) -> list[Path]:
    """Write the data of every head and the pictures of those chosen; return their paths."""
    return [output.write(folder, made), *pictures.draw(made, folder, layer, head)]


def to_text(made: SentenceAttention) -> str:
    """The statistics of every head, a line each."""
    lines = [f"source: {made.source}", f"target ({made.origin}): {made.target}"]
    for maps in made.maps:
        lines += ["", f"{NAMES[maps.kind].capitalize()}, {len(maps.queries)} queries, {len(maps.keys)} keys"]
        lines.append("".join(f"{name:>11}" for name in ("", *asdict(maps.even))))
        lines += [_line(f"{one.layer}.{one.head}", one.statistics) for one in maps.heads]
        lines.append(_line("even", maps.even))
    return "\n".join(lines)


def _line(name: str, found: HeadStatistics) -> str:
    cells = ("-" if value is None else f"{value:.2f}" for value in asdict(found).values())
    return "".join(f"{cell:>11}" for cell in (name, *cells))
