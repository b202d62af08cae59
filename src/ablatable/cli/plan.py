"""`ablatable plan`: what a table will take, before anything is trained."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer


def plan(
    study: Annotated[
        str | None, typer.Argument(help="Name of a study in ablations/, or a path to one; none: every table there is.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="How to shrink it; the study's default otherwise.")] = None,
    seeds: Annotated[int, typer.Option(help="Repeats of every row.")] = 1,
    experiment: Annotated[str | None, typer.Option(help="Another baseline experiment than the study's.")] = None,
    device: Annotated[
        str | None, typer.Option(help="Price the time with this device's stated speed (cpu-thread, P100).")
    ] = None,
    format: Annotated[
        Literal["text", "json", "markdown"], typer.Option(help="How to print; markdown: the list of all tables.")
    ] = "text",
) -> None:
    """Rows, runs still missing, parameters, FLOPs, time and disk of a table; trains and fetches nothing."""
    from ablatable.errors import InputError, nearest

    if study is None:
        if (scale, seeds, experiment, device) != (None, 1, None, None):
            raise InputError("plan: name the study that --scale, --seeds, --experiment and --device are for")
        _print_every_table(format)
        return
    if format == "markdown":
        raise InputError(f"--format markdown lists all tables; leave out '{study}', or choose text or json")
    from ablatable.study.estimate import STATED_SPEEDS
    from ablatable.study.families import shared_trainings
    from ablatable.study.gather import expected
    from ablatable.study.plan import plan_study
    from ablatable.study.plan_json import to_json
    from ablatable.study.plan_text import to_text

    if device is not None and device not in STATED_SPEEDS:
        known = ", ".join(STATED_SPEEDS)
        raise InputError(f"--device: unknown device '{device}'{nearest(device, STATED_SPEEDS)} (known: {known})")
    found = expected(study, scale, seeds, experiment=experiment)
    made = plan_study(
        found.study,
        found.scale,
        found.rows,
        found.store,
        device=device,
        baseline=experiment,
        provisional=found.provisional,
        trained_by=shared_trainings(found.rows, found.fingerprint, found.store),
        searches=found.searches,
    )
    typer.echo(json.dumps(to_json(made), indent=1) if format == "json" else to_text(made))


def _print_every_table(format: Literal["text", "json", "markdown"]) -> None:
    from ablatable.study import overview

    each, together = overview.overviews()
    if format == "json":
        typer.echo(json.dumps(overview.to_json(each, together), indent=1))
    else:
        form = overview.to_text if format == "text" else overview.to_markdown
        typer.echo(form(each, together), nl=format == "text")
