"""`ablatable sweep`: search part of the design space, and see what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from ablatable.launch.sweep import SweepRun
    from ablatable.launch.sweep_progress import SweepProgress
    from ablatable.study.sweep.load import Plan

app = typer.Typer(help="Search part of the design space (Optuna).", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str | None, typer.Argument(metavar="SWEEP", help="Name of a sweep in sweeps/, or a path to one.")]
FromWandb = Annotated[
    Path | None, typer.Option("--from-wandb", metavar="FILE", help="A sweep file of W&B's, in place of SWEEP.")
]
Storage = Annotated[
    str | None,
    typer.Option(help="URL of a database that several machines reach, such as postgresql+psycopg://user@host/name."),
]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to print.")]


@app.command()
def plan(sweep: Name = None, from_wandb: FromWandb = None, format: Format = "text") -> None:
    """Points, impossible ones, parameters, FLOPs and time of a sweep; trains and fetches nothing."""
    from ablatable.study.sweep.plan import plan_sweep, to_json, to_text

    made = plan_sweep(_load(sweep, from_wandb))
    typer.echo(json.dumps(to_json(made), indent=1) if format == "json" else to_text(made))


@app.command()
def run(
    sweep: Name = None,
    from_wandb: FromWandb = None,
    workers: Annotated[
        int | None, typer.Option(help="Trials at a time; as many as cores or devices allow otherwise.")
    ] = None,
    storage: Storage = None,
    trials: Annotated[int | None, typer.Option(help="Trials in all, in place of the sweep's budget.")] = None,
    format: Format = "text",
) -> None:
    """Search until the budget is used up. Safe to kill and repeat; several may work on one sweep at once."""
    from ablatable.launch.interrupts import Interrupted
    from ablatable.launch.sweep import run_sweep

    def say(line: str) -> None:
        if format == "text":
            typer.echo(line, err=True)

    plan = _load(sweep, from_wandb)
    try:
        made = run_sweep(plan, storage=storage, workers=workers, trials=trials, progress=_progress(format), say=say)
    except Interrupted as stopped:
        typer.echo("stopped before the first trial; the same command starts again", err=True)
        raise typer.Exit(stopped.exit_code) from None
    _show(made, format)
    raise typer.Exit(made.exit_code)


def _progress(format: str) -> SweepProgress:
    from rich.console import Console

    from ablatable.launch.sweep_progress import Lines, Screen, Silent

    if format == "json":
        return Silent()
    console = Console(stderr=True, highlight=False)
    return Screen(console) if console.is_terminal else Lines(console)


def _show(made: SweepRun, format: str) -> None:
    from ablatable.config.locate import runs_folder
    from ablatable.record.store import Store
    from ablatable.study.sweep import status as standing

    store = Store(runs_folder())
    if format == "json":
        told = {**standing.to_json(made.trials, made.plan.sweep, store), "exit_code": made.exit_code}
        typer.echo(json.dumps(told, indent=1))
        return
    typer.echo(standing.to_text(made.trials, made.plan.sweep, store))
    if made.interrupted_by is not None:
        typer.echo("stopped; the same command goes on where the trials are", err=True)
    else:
        typer.echo(f"done: {made.why}", err=True)


@app.command()
def status(sweep: Name = None, from_wandb: FromWandb = None, storage: Storage = None, format: Format = "text") -> None:
    """Trials by state, the best so far, and how far the running ones are."""
    from ablatable.config.locate import runs_folder
    from ablatable.record.store import Store
    from ablatable.study.sweep import status as standing
    from ablatable.study.sweep.keeper import read_trials

    loaded = _load(sweep, from_wandb)
    trials = read_trials(loaded, storage)
    show = standing.to_json if format == "json" else standing.to_text
    told = show(trials, loaded.sweep, Store(runs_folder()))
    typer.echo(json.dumps(told, indent=1) if format == "json" else told)


@app.command()
def best(
    sweep: Name = None,
    from_wandb: FromWandb = None,
    trial: Annotated[int | None, typer.Option(help="This trial instead of the best.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the experiment, such as experiments/tuned.yaml.")] = None,
    storage: Storage = None,
    format: Format = "text",
) -> None:
    """The best trial as an experiment file that resolves to the same run; of several objectives, the front."""
    from ablatable.study.sweep import best as picking
    from ablatable.study.sweep import status as standing
    from ablatable.study.sweep.keeper import read_trials

    loaded = _load(sweep, from_wandb)
    trials = read_trials(loaded, storage)
    several = len(loaded.sweep.objectives) > 1 and trial is None
    if several and output is None:
        found = standing.front(trials, loaded.sweep)
    else:
        found = [picking.chosen(trials, loaded, trial)]
    if output is not None:
        picking.write_experiment(loaded, found[0], output)
        typer.echo(f"wrote {output}; train it without a scale", err=True)
    if format == "json":
        typer.echo(json.dumps([standing.best_json(one, loaded.sweep) for one in found], indent=1))
        return
    for one in found:
        typer.echo(standing.trial_line(one, loaded.sweep))
    if len(found) == 1 and output is None:
        typer.echo(picking.experiment_text(loaded, found[0]), nl=False)


@app.command()
def plot(
    sweep: Name = None,
    from_wandb: FromWandb = None,
    out: Annotated[Path | None, typer.Option(help="Folder; runs/sweeps/<name>/plots otherwise.")] = None,
    storage: Storage = None,
) -> None:
    """History, importance, slices, contours and the front of a sweep, as PNG and SVG."""
    from ablatable.study.sweep.keeper import read_study, sweep_folder
    from ablatable.study.sweep.plots import write_plots

    loaded = _load(sweep, from_wandb)
    study, trials = read_study(loaded, storage)
    folder = out if out is not None else sweep_folder(loaded.sweep.name) / "plots"
    for path in write_plots(study, trials, loaded, folder):
        typer.echo(str(path))


@app.command()
def publish(sweep: Name = None, from_wandb: FromWandb = None, storage: Storage = None) -> None:
    """Copy the trials, the records behind them and the plots of a sweep into results/sweeps/."""
    from ablatable.study.sweep import publish as publishing

    typer.echo(publishing.to_text(publishing.publish_sweep(_load(sweep, from_wandb), storage)))


@app.command()
def export(
    sweep: Annotated[str, typer.Argument(metavar="SWEEP", help="Name of a sweep in sweeps/, or a path to one.")],
    to: Annotated[Literal["wandb"], typer.Option(help="Whose sweep file it is to be.")],
    output: Annotated[Path | None, typer.Option(help="Write it there; printed otherwise.")] = None,
) -> None:
    """The sweep file of another tool: `wandb sweep FILE` takes it, and `wandb agent` then calls `ablatable train`."""
    from ablatable.study.sweep.load import load_sweep
    from ablatable.study.sweep.wandb.write import export as written
    from ablatable.study.sweep.wandb.write import write

    made = written(load_sweep(sweep))
    for note in made.notes:
        typer.echo(note, err=True)
    if output is None:
        typer.echo(made.text, nl=False)
        return
    write(made, output)
    typer.echo(f"wrote {output}; `wandb sweep {output}` tells what agents are to be started with", err=True)


def _load(sweep: str | None, from_wandb: Path | None) -> Plan:
    """The sweep that is named, in whichever form."""
    from ablatable.errors import InputError
    from ablatable.study.sweep.load import load_sweep
    from ablatable.study.sweep.wandb.read import load_wandb

    if from_wandb is None and sweep is not None:
        return load_sweep(sweep)
    if from_wandb is None or sweep is not None:
        raise InputError("command line: name one sweep, either in sweeps/ or a file of W&B's with --from-wandb")
    read = load_wandb(from_wandb)
    for note in read.notes:
        typer.echo(note, err=True)
    return read.plan
