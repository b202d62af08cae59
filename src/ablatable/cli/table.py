"""`ablatable table`: a study's table, made from its records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def table(
    study: Annotated[str, typer.Argument(help="Name of a study in ablations/, or a path to one.")],
    scale: Annotated[str | None, typer.Option(help="The scale it was run at; the study's default otherwise.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Repeats of every row; otherwise as many as there are.")] = None,
    format: Annotated[
        str, typer.Option(help="md, tex, csv, html or json; several, with commas, need --out or --check.")
    ] = "md",
    source: Annotated[
        Literal["auto", "runs", "results"],
        typer.Option(help="Records from runs/, from what is published in results/, or from where there are any."),
    ] = "auto",
    out: Annotated[Path | None, typer.Option(help="Write table.<format> into this folder.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Fail where a published table differs from its published records.")
    ] = False,
) -> None:
    """Regenerate a table from records alone: the same records give the same bytes."""
    from ablatable.errors import InputError
    from ablatable.report import make, render

    if check:
        if seeds is not None or out is not None or source != "auto":
            raise InputError("--check reads what is published, all of it; leave out --seeds, --source and --out")
        for path in make.check_published(study, scale):
            typer.echo(f"{path} equals its records")
        return
    names = render.formats(format)
    if len(names) > 1 and out is None:
        raise InputError(f"--format {format}: several formats are written to files; name a folder with --out")
    made = make.table_of(study, scale, seeds, source)
    if out is None:
        typer.echo(render.RENDERERS[names[0]](made), nl=False)
        return
    for path in make.write(out, render.files(made, names)):
        typer.echo(str(path))
