"""A comparison from beginning to end: finds the runs, then puts the parts asked for together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ablatable.errors import InputError, nearest
from ablatable.report.compare.differences import differing_provenance, differing_settings
from ablatable.report.compare.find import Place, find_sides
from ablatable.report.compare.model import PARTS, Column, Comparison, Part
from ablatable.report.compare.numbers import comparability, curves, metric_lines
from ablatable.report.compare.side import Side

if TYPE_CHECKING:
    from ablatable.report.compare.text import Text
    from ablatable.scoring.statistics import MeasureName


@dataclass(frozen=True)
class Asked:
    """What of the comparison is wanted. ``parts`` is None for all that can be had.

    ``sentences`` counts the sentences to show; ``samples`` are those of the bootstrap and of the randomisation.
    """

    parts: tuple[Part, ...] | None = None
    split: str = "valid"
    sentences: int = 5
    by: MeasureName = "chrf"
    seed: int = 12345
    samples: tuple[int, int] = (1000, 10_000)


def parts_of(text: str) -> tuple[Part, ...]:
    """Read ``config,metrics``. Raises InputError for a part there is not."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in PARTS:
            raise InputError(f"--parts: unknown part '{name}'{nearest(name, PARTS)} (known: {', '.join(PARTS)})")
    if not names:
        raise InputError(f"--parts: name at least one of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in names)


def compare(words: Sequence[str], place: Place, cache: Path, asked: Asked) -> Comparison:
    """Compare what is named with the first of it.

    A part that was asked for by name and cannot be had is an error; otherwise its place says why.

    Raises:
        InputError: see `find_sides`; translations or corpus that are not there or not what was scored.
    """
    sides = find_sides(words, place)
    parts = PARTS if asked.parts is None else asked.parts
    made = Comparison(
        split=asked.split,
        columns=tuple(_column(side) for side in sides),
        parts=parts,
        notes=tuple(comparability(sides)),
        settings=tuple(differing_settings(sides)) if "config" in parts else (),
        provenance=tuple(differing_provenance(sides)) if "config" in parts else (),
        metrics=tuple(metric_lines(sides)) if "metrics" in parts else (),
        curves=tuple(curves(sides)) if "curves" in parts else (),
    )
    if "significance" in parts or "sentences" in parts:
        made = _with_text(made, sides, place, cache, asked)
    return made


def _column(side: Side) -> Column:
    scales = {record.labels.scale for record in side.records}
    return Column(
        letter=side.letter,
        name=side.name,
        ids=tuple(record.id for record in side.records),
        seeds=side.seeds,
        status="imported"
        if side.imported
        else side.records[0].status
        if len({r.status for r in side.records}) == 1
        else "failed",
        scale=scales.pop() if len(scales) == 1 else None,
        remark=side.remark,
    )


def _with_text(made: Comparison, sides: Sequence[Side], place: Place, cache: Path, asked: Asked) -> Comparison:
    from ablatable.report.compare import significance
    from ablatable.report.compare.remarks import test_notes
    from ablatable.report.compare.sentences import most_changed

    tests = significance.seed_tests(sides, asked.split) if "significance" in made.parts else []
    wanted = _needing_sentences(made.parts, sides, asked.sentences)
    text = _text(wanted, sides, place, cache, asked) if wanted else None
    if isinstance(text, str):
        made = replace(made, refused=dict.fromkeys(wanted, text))
    elif text is not None:
        if "significance" in wanted:
            tests += significance.sentence_tests(sides, text, asked.split, asked.seed, asked.samples)
        if "sentences" in wanted:
            made = replace(made, sentences=tuple(most_changed(text, asked.sentences, asked.by)))
    return replace(
        made,
        tests=tuple(tests),
        test_notes=tuple(test_notes(sides, tests, asked.samples, asked.seed)),
        sentences_by=asked.by,
        sentences_asked=asked.sentences,
    )


def _needing_sentences(parts: Sequence[Part], sides: Sequence[Side], count: int) -> list[Part]:
    """The parts that cannot do without the translations: tests only where some side has no seeds."""
    from ablatable.report.compare.significance import has_seeds

    over_seeds = all(has_seeds(sides[0], side) for side in sides[1:])
    needing = {"sentences": count > 0, "significance": not over_seeds}
    return [part for part in parts if needing.get(part, False)]


def _text(wanted: Sequence[Part], sides: Sequence[Side], place: Place, cache: Path, asked: Asked) -> Text | str:
    """The sentences, or why there are none where nobody asked for them by name."""
    from ablatable.report.compare.text import read_text, why_not_paired

    why = why_not_paired(sides)
    if why is None and place.source == "results":
        why = "published records come without the translations"
    if why is None:
        return read_text(sides, asked.split, cache, ("bleu", "chrf"))
    if asked.parts is not None:
        raise InputError(f"{wanted[0]}: {why}; leave it out with --parts config,metrics,curves")
    return why
