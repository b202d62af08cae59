"""`ablatable wandb`: a study's table and comparison in Weights & Biases, and runs made anew from their ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ablatable.config.runtime import Tracking

app = typer.Typer(help="What Weights & Biases shows of studies and runs.", no_args_is_help=True)

_Study = Annotated[str, typer.Argument(help="Name of a study in ablations/, or a path to one.")]
_Scale = Annotated[str | None, typer.Option(help="The scale it was run at; the study's default otherwise.")]
_Project = Annotated[str | None, typer.Option(help="W&B project; otherwise that of the study's runs.")]
_Entity = Annotated[str | None, typer.Option(help="W&B entity; otherwise that of the study's runs.")]


@app.command()
def table(
    study: _Study,
    scale: _Scale = None,
    online: Annotated[bool, typer.Option("--online", help="Send it now; otherwise for `wandb sync`.")] = False,
    project: _Project = None,
    entity: _Entity = None,
) -> None:
    """Show a study's table as one run in the study's group."""
    from ablatable.config.locate import runs_folder
    from ablatable.report import make, render, values
    from ablatable.tracking.opening import check_login
    from ablatable.tracking.study_run import Tabled, log_table

    made = make.table_of(study, scale, None)
    tracking = _tracking(study, scale, project, entity, online)
    if online:
        check_login("--online", "leave it out and `wandb sync` what is printed then")
    shown = Tabled(made.name, made.scale, made.title, values.columns(made), values.rows(made), render.files(made))
    path = log_table(shown, tracking, runs_folder() / ".tables")
    typer.echo(f"{made.name} at scale {made.scale}: sent" if online else f"wandb sync {path}")


@app.command()
def report(
    study: _Study,
    scale: _Scale = None,
    project: _Project = None,
    entity: _Entity = None,
) -> None:
    """Build the comparison of a study's rows as a W&B report; needs wandb-workspaces and an account."""
    from ablatable.report import make
    from ablatable.study.load import load_study
    from ablatable.tracking.workspace import Overview, build, check_reports, send

    check_reports()
    made = make.table_of(study, scale, None)
    tracking = _tracking(study, scale, project, entity, online=True)
    metrics = [(column.label, column.key) for column in made.metrics]
    overview = Overview(made.name, made.scale, made.title, made.question, metrics, load_study(study).split)
    typer.echo(send(build(overview, tracking.project, tracking.entity)))


@app.command()
def rebuild(
    runs: Annotated[list[str], typer.Argument(help="Ids, enough of their beginnings, or folders of runs.")],
) -> None:
    """Make the offline W&B runs of these runs anew, from what they have recorded; prints what to sync."""
    from ablatable.analysis.attention.shown import pictures
    from ablatable.config.locate import cache_folder, runs_folder
    from ablatable.record.lookup import run_folder
    from ablatable.tracking import rebuild as again

    folders = [run_folder(runs_folder(), run) for run in runs]
    for folder in folders:
        typer.echo(f"wandb sync {again.rebuild(folder, cache_folder(), pictures)}")


def _tracking(study: str, scale: str | None, project: str | None, entity: str | None, online: bool) -> Tracking:
    """Where the study's own runs go, unless told otherwise."""
    from dataclasses import replace

    from ablatable.study.gather import expected

    own = expected(study, scale, 1).rows[0].experiments[0].tracking
    return replace(
        own, wandb="online" if online else "offline", project=project or own.project, entity=entity or own.entity
    )
