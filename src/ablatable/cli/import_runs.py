"""`ablatable import`: runs of ours from elsewhere, and those of other tools, into the runs folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ablatable.adopt.make import Adopted


def import_runs(
    source: Annotated[
        Path,
        typer.Argument(
            help="results/ or its records.jsonl, a runs folder, a W&B folder or .wandb file, a CSVLogger's folder, or "
            "one with TensorBoard's event files."
        ),
    ],
    study: Annotated[str | None, typer.Option(help="Of another tool's runs: the study they belong to.")] = None,
    row: Annotated[str | None, typer.Option(help="The row of that study.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The run's seed; what its configuration says otherwise.")
    ] = None,
    map: Annotated[
        Path | None, typer.Option(help="A YAML file with study, metrics, settings, update and each run's row and seed.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="OURS=THEIRS, such as valid.nll=val_loss or valid.bleu=100*val_bleu.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(help="PATH=KEY, such as model.layers=n_layers: what its configuration calls it.")
    ] = None,
    update: Annotated[
        str | None, typer.Option(help="The logged number that counts updates; the tool's own step otherwise.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Take a run whose end is missing, as far as it can be read.")
    ] = False,
) -> None:
    """Take runs into runs/: ours of another machine as ordinary ones, others marked as imported."""
    from ablatable.adopt import mapping
    from ablatable.adopt.make import adopt
    from ablatable.config.locate import runs_folder

    words = mapping.of_words(study, row, seed, metric or (), setting or (), update)
    mapped = words if map is None else mapping.together(mapping.of_file(map), words)
    for line in _lines(adopt(source, runs_folder(), mapped, unfinished)):
        typer.echo(line)


_NAMED = 8
"""Ids that are printed; `ablatable runs --columns id,origin` has them all."""


def _lines(made: Adopted) -> list[str]:
    from ablatable.adopt.make import said

    lines: list[str] = []
    if made.records:
        count = len(made.records)
        shown = ", ".join(list(made.records)[:_NAMED]) + (f" and {count - _NAMED} more" if count > _NAMED else "")
        lines.append(f"took {count} run{'s' if count > 1 else ''} of ours: {shown}")
    for record in made.foreign:
        shown = ", ".join(f"{name} {metric.value:.4g}" for name, metric in sorted(record.metrics.items()))
        unfinished = f" (not whole: {record.cause})" if record.cause else ""
        lines.append(f"imported {record.origin.said} as {said(record)}{unfinished}: {shown}")
    if made.unmapped:
        lines.append(
            f"not taken, no names of ours: {', '.join(made.unmapped)}; --metric OURS=THEIRS says what they are"
        )
    lines += [f"left as it is: {reason}" for reason in made.left]
    if not made.records and not made.foreign:
        lines.append("nothing new")
    return lines + _hints(made)


def _hints(made: Adopted) -> list[str]:
    """What a study's file must say for its table to show these runs."""
    from ablatable.config.locate import known
    from ablatable.study.load import load_study

    lines: list[str] = []
    for study, name in dict.fromkeys((record.labels.study, record.labels.row) for record in made.foreign):
        row = f"`- {{name: {name}, imported: true}}` among its rows"
        if study is None or study not in known("ablations"):
            lines.append(f"to show it in a table, write ablations/{study}.yaml with {row}")
        elif not any(each.name == name and each.imported for each in load_study(study).rows):
            lines.append(f"to show it in the table of {study}, its file needs {row}")
    return lines
