"""A comparison as Markdown that reads well raw, in a terminal, too."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, cast

from ablatable.report.compare.model import Comparison, MetricLine, PairedTest, Part, SettingLine
from ablatable.report.compare.plot_text import AXES, draw
from ablatable.report.layout import DASH, DELTA, PLUS_MINUS
from ablatable.report.markdown import escape
from ablatable.report.measures import FACTS, digits, number, setting
from ablatable.report.plain_table import markdown_table
from ablatable.report.rounding import signed
from ablatable.report.statistics import Sample


def render(made: Comparison) -> str:
    """Every part that was asked for; ends in one newline."""
    first = made.columns[0]
    sections = [f"## {first.letter} {first.name} and {len(made.columns) - 1} compared with it", _legend(made)]
    if made.notes:
        sections.append("\n".join(f"- {escape(note)}" for note in made.notes))
    for part in made.parts:
        if part == "sentences" and not made.sentences_asked:
            continue
        title, write = _PARTS[part]
        sections += [f"### {title}", *write(made)]
    return "\n\n".join(sections) + "\n"


def _legend(made: Comparison) -> str:
    heads = ["", "run", "scale", "seeds", "status", "id"]
    rows = [
        [
            column.letter,
            column.name,
            column.scale or "",
            ", ".join(map(str, column.seeds)),
            column.status,
            " ".join(column.ids),
        ]
        for column in made.columns
    ]
    remarks = [f"- {escape(f'{column.letter}: {column.remark}')}" for column in made.columns if column.remark]
    return "\n".join([markdown_table(heads, rows, range(len(heads))), *([""] if remarks else []), *remarks])


def _heads(made: Comparison) -> list[str]:
    return [f"{column.letter} {column.name}" for column in made.columns]


def _config(made: Comparison) -> list[str]:
    meant = [line for line in made.settings if not line.operational and not line.tuned]
    tuned = [line for line in made.settings if line.tuned]
    how = [line for line in made.settings if line.operational]
    found = [_settings(made, "setting", meant) if meant else "Every setting is the same."]
    if tuned:
        found += ["Tuned for each of them (no part of what they are about):", _settings(made, "setting", tuned)]
    if how:
        found += ["How they were run (not part of what a run is):", _settings(made, "setting", how)]
    if made.provenance:
        found += ["What else differs behind the numbers:", _settings(made, "", made.provenance)]
    return found


def _settings(made: Comparison, head: str, lines: Sequence[SettingLine]) -> str:
    rows = [[line.path, *(_value(value) for value in line.values)] for line in lines]
    return markdown_table([head, *_heads(made)], rows, range(len(made.columns) + 1))


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(dict.fromkeys(_value(item) for item in cast(tuple[Any, ...], value)))
    return setting(value)


def _metrics(made: Comparison) -> list[str]:
    lines = [line for line in made.metrics if any(line.samples)]
    heads = ["", "unit", _heads(made)[0]]
    for column in made.columns[1:]:
        heads += [f"{column.letter} {column.name}", f"{DELTA} {column.letter}"]
    return [markdown_table(heads, [_measured(line) for line in lines], (0, 1))]


def _measured(line: MetricLine) -> list[str]:
    cells = [line.key, line.unit, _sample(line.key, line.samples[0])]
    for sample, gap in zip(line.samples[1:], line.differences[1:], strict=True):
        cells += [_sample(line.key, sample), "" if gap is None else _delta(line, gap.value)]
    return cells


def _sample(key: str, sample: Sample | None) -> str:
    if sample is None:
        return DASH
    spread = "" if sample.sd is None or key in FACTS else f" {PLUS_MINUS} {number(key, sample.sd)}"
    return f"{number(key, sample.mean)}{spread}"


def _delta(line: MetricLine, gap: float) -> str:
    """A score's difference in its unit, a fact's in per cent of the first."""
    first = line.samples[0]
    if line.key in FACTS and first is not None and first.mean:
        return f"{signed(100 * gap / first.mean, 1)} %"
    return signed(gap, digits(line.key))


def _curves(made: Comparison) -> list[str]:
    if not any(curve.points for curve in made.curves):
        return ["No run has a validation."]
    legend = "\n".join(f"{curve.letter}  {curve.name}{_how_many(curve.seeds)}" for curve in made.curves)
    drawn = [f"```text\n{plot}\n```" for axis in AXES if (plot := draw(made.curves, axis))]
    return ["Validation NLL (unsmoothed, nats a piece).", *drawn, f"```text\n{legend}\n+  several of them\n```"]


def _how_many(seeds: int) -> str:
    return f"  (mean of {seeds} seeds)" if seeds > 1 else ""


def _significance(made: Comparison) -> list[str]:
    found = [_tests(made)] if made.tests else []
    found += [f"Not over sentences: {made.refused['significance']}."] if "significance" in made.refused else []
    found += ["\n".join(f"- {escape(note)}" for note in made.test_notes)] if made.test_notes else []
    signatures = dict.fromkeys(line.signature for line in made.tests if line.signature)
    found += ["\n".join(f"- `{signature}`" for signature in signatures)] if signatures else []
    return found or ["Nothing to test: no metric was measured alike on two sides."]


def _tests(made: Comparison) -> str:
    corrected = any(line.corrected is not None for line in made.tests)
    heads = ["", "metric", "test", "n", f"{DELTA} to {made.columns[0].letter}", "95 % interval", "p"]
    rows = [_test(line, corrected) for line in made.tests]
    return markdown_table(heads + (["p (Holm)"] if corrected else []), rows, (0, 1, 2))


def _test(line: PairedTest, corrected: bool) -> list[str]:
    places = digits(line.metric)
    interval = ""
    if line.low is not None and line.high is not None:
        interval = f"[{signed(line.low, places)}, {signed(line.high, places)}]"
    cells = [line.letter, line.metric, line.test, f"{line.n:,} {line.over}", signed(line.difference, places), interval]
    return [*cells, _p(line.p), *([_p(line.corrected)] if corrected else [])]


def _p(value: float | None) -> str:
    """Four digits, and never a p that looks like nothing."""
    return "" if value is None else f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}" if value else "0"


def _sentences(made: Comparison) -> list[str]:
    if "sentences" in made.refused:
        return [f"Not available: {made.refused['sentences']}."]
    if not made.sentences:
        return ["No sentence scores differently."]
    by = {"bleu": "BLEU", "chrf": "chrF"}[made.sentences_by]
    found = [f"By {by} of each sentence of {made.split}, the largest spread first."]
    for sentence in made.sentences:
        said = [("source", sentence.source), ("reference", sentence.reference)]
        for column, score, text in zip(made.columns, sentence.scores, sentence.hypotheses, strict=True):
            said.append((f"{column.letter} {score:.1f}", text))
        width = max(len(label) for label, _ in said)
        lines = "\n".join(f"{label:<{width}}  {_harmless(text)}" for label, text in said)
        fence = "`" * max(3, 1 + max(len(run) for run in re.findall("`*", lines)))
        found.append(f"{sentence.number}. spread {sentence.spread:.1f}\n\n{fence}text\n{lines}\n{fence}")
    return found


def _harmless(text: str) -> str:
    """Text without what a terminal would obey: control characters and line separators are spelled out."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Zl", "Zp")
        else character
        for character in text
    )


_PARTS: dict[Part, tuple[str, Callable[[Comparison], list[str]]]] = {
    "config": ("Settings that differ", _config),
    "metrics": ("Metrics", _metrics),
    "curves": ("Learning curves", _curves),
    "significance": ("Significance", _significance),
    "sentences": ("Sentences that changed most", _sentences),
}
