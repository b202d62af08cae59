"""`ablatable status`: where every run of a table stands."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer


def status(
    study: Annotated[str, typer.Argument(help="Name of a study in ablations/, or a path to one.")],
    scale: Annotated[str | None, typer.Option(help="The scale it was run at; the study's default otherwise.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Repeats of every row; otherwise as many as were begun.")] = None,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print.")] = "text",
) -> None:
    """Finished, running, failed (with cause), interrupted and missing runs of a table."""
    from ablatable.study import status as standing
    from ablatable.study.gather import expected, imported_runs

    found = expected(study, scale, seeds)
    imported = imported_runs(found.study, found.scale, found.store.root)
    made = standing.study_status(found.study, found.scale, found.rows, found.store, found.searches, imported)
    typer.echo(json.dumps(standing.to_json(made), indent=1) if format == "json" else standing.to_text(made))
