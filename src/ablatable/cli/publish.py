"""`ablatable publish`: a table and the records behind it, into `results/`."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer


def publish(
    study: Annotated[str, typer.Argument(help="Name of a study in ablations/, or a path to one.")],
    scale: Annotated[str | None, typer.Option(help="The scale it was run at; the study's default otherwise.")] = None,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print what was done.")] = "text",
) -> None:
    """Copy the records behind a table into results/ and write its tables; holes stay and are named."""
    from ablatable.study import publish as publishing

    done = publishing.publish(study, scale)
    if format == "text":
        typer.echo(publishing.to_text(done))
        return
    said = {
        "folder": str(done.folder),
        "files": [file.name for file in done.files],
        "records": done.records,
        "expected": done.expected,
        "remarks": list(done.remarks),
    }
    typer.echo(json.dumps(said, indent=1))
