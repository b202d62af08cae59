"""`ablatable run`: train what a table lacks, then print it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ablatable.launch.local import Progress
    from ablatable.launch.study import StudyRun


def run(
    study: Annotated[str, typer.Argument(help="Name of a study in ablations/, or a path to one.")],
    scale: Annotated[str | None, typer.Option(help="How to shrink it; the study's default otherwise.")] = None,
    seeds: Annotated[int, typer.Option(help="Repeats of every row.")] = 1,
    launcher: Annotated[Literal["local"], typer.Option(help="Where the runs go: this machine.")] = "local",
    slots: Annotated[
        int | None, typer.Option(help="Runs at a time; as many as cores or devices allow otherwise.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Also run again what failed.")] = False,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print what came of it.")] = "text",
) -> None:
    """Train the runs a table lacks, one process each, then print the table. Safe to kill and repeat."""
    from ablatable.launch.interrupts import Interrupted
    from ablatable.launch.study import run_study

    def say(line: str) -> None:
        if format == "text":
            typer.echo(line, err=True)

    try:
        made = run_study(
            study,
            scale,
            seeds,
            slots=slots,
            retry_failed=retry_failed,
            progress=lambda: progress_for(format),
            say=say,
        )
    except Interrupted as stopped:
        typer.echo("stopped before the first run; the same command starts again", err=True)
        raise typer.Exit(stopped.exit_code) from None
    if format == "json":
        typer.echo(json.dumps(_to_json(made), indent=1))
    else:
        typer.echo(_summary(made), err=True)
        if made.outcome.interrupted_by is None:
            _print_table(study, made.expected.scale, seeds)
    raise typer.Exit(made.exit_code)


def progress_for(format: str) -> Progress:
    """How to show runs: a live screen on a terminal, lines elsewhere, nothing beside JSON."""
    from rich.console import Console

    from ablatable.launch.progress import Lines, Screen, Silent

    if format == "json":
        return Silent()
    console = Console(stderr=True, highlight=False)
    return Screen(console) if console.is_terminal else Lines(console)


def _print_table(study: str, scale: str, seeds: int) -> None:
    from ablatable.report import make, render

    typer.echo(render.RENDERERS["md"](make.table_of(study, scale, seeds, "runs")), nl=False)


def _summary(made: StudyRun) -> str:
    """One line of counts, one for each run that has not completed, and what to do about it."""
    from ablatable.study.status import StudyStatus

    counts = StudyStatus(made.expected.study.name, made.expected.scale, made.states).counts
    said = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    lines = [f"{made.expected.study.name} at scale {made.expected.scale}: {said}"]
    causes = _causes(made)
    hopeless = {row.row.name for row in made.expected.rows if row.search_failed}
    for run in made.states:
        if (run.id in causes or run.state in ("failed", "interrupted")) and made.outcome.interrupted_by is None:
            lines.append(f"  {run.row}, seed {run.seed}: {run.state}: {causes.get(run.id, run.cause)}")
    if made.outcome.interrupted_by is not None:
        lines.append("stopped; the same command goes on where the runs are")
    elif any(run.state == "failed" and run.row not in hopeless for run in made.states):
        lines.append("the same command with --retry-failed runs again what failed")
    elif hopeless:
        lines.append("a row whose trials all failed needs other ranges in 'tuning', or more trials")
    elif made.exit_code:
        lines.append("the same command resumes what is unfinished")
    return "\n".join(lines)


def _causes(made: StudyRun) -> dict[str, str | None]:
    """What this launch knows about runs that died without a record."""
    return {ended.job.id: ended.cause for ended in made.outcome.ended if ended.state == "crashed"}


def _to_json(made: StudyRun) -> dict[str, Any]:
    """Every run of the table; the times (start: asked for, to its first line) of what this launch ran."""
    ended = {one.job.id: one for one in made.outcome.ended}
    causes = _causes(made)
    return {
        "study": made.expected.study.name,
        "scale": made.expected.scale,
        "exit_code": made.exit_code,
        "runs": [
            {
                "id": run.id,
                "row": run.row,
                "seed": run.seed,
                "state": run.state,
                "cause": causes.get(run.id, run.cause),
                "seconds": ended[run.id].seconds if run.id in ended else None,
                "start_seconds": ended[run.id].start_seconds if run.id in ended else None,
            }
            for run in made.states
        ],
    }
