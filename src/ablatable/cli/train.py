"""`ablatable train`: one run, by hand or by a sweep's agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from ablatable.record.schema import Record


def train(
    experiment: Annotated[str, typer.Argument(help="Name of an experiment in experiments/, or a path to one.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, such as model.heads=4.")] = None,
    scale: Annotated[str | None, typer.Option(help="How to shrink it, such as cpu.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the experiment's own otherwise.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Train again a run that failed.")] = False,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print the record.")] = "text",
) -> None:
    """Train one experiment, or go on where it stopped; print its record."""
    from ablatable.cli.run import progress_for
    from ablatable.config.load import load_experiment
    from ablatable.errors import RunFailed
    from ablatable.launch.interrupts import Interrupted
    from ablatable.launch.single import run_experiment

    loaded = load_experiment(experiment, _with_seed(overrides or [], seed), scale)

    def say(line: str) -> None:
        if format == "text":
            typer.echo(line, err=True)

    try:
        record, outcome = run_experiment(
            loaded,
            Path(experiment).stem,
            changed=_changed(overrides or []),
            retry_failed=retry_failed,
            progress=progress_for(format),
            say=say,
        )
    except Interrupted as stopped:
        typer.echo("stopped before the run; the same command starts again", err=True)
        raise typer.Exit(stopped.exit_code) from None
    if outcome.interrupted_by is not None:
        typer.echo("stopped; the same command goes on where it is", err=True)
        raise typer.Exit(outcome.exit_code)
    if record is None:
        causes = [ended.cause for ended in outcome.ended if ended.cause]
        raise RunFailed(f"the run died without a record: {'; '.join(causes)}; the same command resumes it")
    _show(record, format)
    if record.status != "completed":
        raise RunFailed(f"run {record.id} {record.status}: {record.cause}")


def _changed(overrides: list[str]) -> tuple[str, ...]:
    """The design choices among the overrides: neither the seed nor where and how the run is made."""
    from ablatable.config.layers import from_overrides
    from ablatable.config.tree import leaves

    return tuple(path for path in from_overrides(overrides) if path != "seed" and leaves()[path].semantic)


def _with_seed(overrides: list[str], seed: int | None) -> list[str]:
    from ablatable.errors import InputError

    if seed is None:
        return overrides
    if any(word.startswith("seed=") for word in overrides):
        raise InputError("command line: the seed is given twice, by --seed and by seed=; keep one")
    return [*overrides, f"seed={seed}"]


def _show(record: Record, format: str) -> None:
    from ablatable.record.store import encode_record

    if format == "json":
        typer.echo(encode_record(record), nl=False)
        return
    typer.echo(
        f"run {record.id}, seed {record.seed}: {record.status}, {record.parameters:,} parameters, "
        f"{record.updates:,} updates, {record.wall_seconds:.0f} s"
    )
    for name, metric in sorted(record.metrics.items()):
        typer.echo(f"  {name:18} {metric.value:10.4f}  {metric.unit}")
