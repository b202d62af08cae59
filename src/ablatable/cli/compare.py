"""`ablatable compare`: runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...",
            help="Ids, their beginnings, run folders, or rows with all their seeds: study/row, study/row/seed.",
        ),
    ],
    parts: Annotated[
        str | None,
        typer.Option(help="config, metrics, curves, significance, sentences; several with commas; all otherwise."),
    ] = None,
    scale: Annotated[str | None, typer.Option(help="The scale of rows, where a study has runs at several.")] = None,
    source: Annotated[
        Literal["runs", "results"], typer.Option(help="The runs folder, or the published records in results/.")
    ] = "runs",
    split: Annotated[Literal["valid", "test"], typer.Option(help="Whose sentences are tested and shown.")] = "valid",
    sentences: Annotated[int, typer.Option(min=0, max=10_000, help="How many of the sentences to show.")] = 5,
    by: Annotated[Literal["chrf", "bleu"], typer.Option(help="What ranks the sentences.")] = "chrf",
    seed: Annotated[int, typer.Option(min=0, help="Of the resampling.")] = 12345,
    bootstrap: Annotated[int, typer.Option(min=100, max=1_000_000, help="Samples of the paired bootstrap.")] = 1000,
    randomisation: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="Samples of the approximate randomisation.")
    ] = 10_000,
    output: Annotated[Path | None, typer.Option(help="Write curves.png and curves.svg into this folder.")] = None,
    format: Annotated[Literal["md", "json"], typer.Option(help="How to print.")] = "md",
) -> None:
    """Compare runs with the first: settings, metrics, learning curves, paired significance, changed sentences."""
    from ablatable.config.locate import cache_folder, results_folder, runs_folder
    from ablatable.errors import InputError
    from ablatable.report.compare import make
    from ablatable.report.compare.find import Place
    from ablatable.report.compare.render import FORMATS

    wanted = None if parts is None else make.parts_of(parts)
    if output is not None and wanted is not None and "curves" not in wanted:
        raise InputError("--output writes the learning curves; add curves to --parts or leave out --output")
    made = make.compare(
        runs,
        Place(source, runs_folder(), results_folder(), scale),
        cache_folder(),
        make.Asked(wanted, split, sentences, by, seed, (bootstrap, randomisation)),
    )
    typer.echo(FORMATS[format](made), nl=False)
    if output is not None:
        from ablatable.report.compare.plot import save_curves

        for path in save_curves(made.curves, output, made.notes[0] if made.notes else None):
            typer.echo(str(path), err=True)
