"""`ablatable complexity`: the paper's Table 1, measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from ablatable.analysis.complexity.measure import Progress
    from ablatable.analysis.complexity.settings import Settings


def complexity(
    output: Annotated[
        Path | None, typer.Option(help="Folder for measurements, table and picture; runs/complexity otherwise.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, few rounds: seconds, exponents mean little.")
    ] = False,
    backward: Annotated[bool, typer.Option("--backward", help="Forward and backward, not forward alone.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the processor.")] = 1,
    device: Annotated[Literal["cpu", "cuda"], typer.Option(help="Where the layers run.")] = "cpu",
    rounds: Annotated[int | None, typer.Option(min=2, help="How often every size is timed; 11 otherwise.")] = None,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Measure nothing: table and picture from the measurements in the folder.")
    ] = False,
    format: Annotated[Literal["text", "md", "csv", "json"], typer.Option(help="How to print the table.")] = "text",
) -> None:
    """The paper's Table 1, measured: time, memory, operations, sequential steps and path lengths of one layer.

    Under five minutes; may be stopped, the same command goes on. Wants a machine with nothing else to do.
    """
    from ablatable.config.locate import runs_folder

    folder = output or runs_folder() / "complexity"
    if redraw and (quick or backward or threads != 1 or device != "cpu" or rounds is not None):
        from ablatable.errors import InputError

        raise InputError("--redraw measures nothing: leave out --quick, --backward, --threads, --device and --rounds")
    from ablatable.analysis.complexity import make

    if redraw:
        made = make.finished(folder)
    else:
        from ablatable.analysis.complexity.measure import measure

        try:
            made = measure(_settings(quick, backward, threads, device, rounds), folder, _progress())
        except KeyboardInterrupt:
            typer.echo("\nstopped; the same command goes on from here", err=True)
            raise typer.Exit(130) from None
    summary, paths = make.write(made, folder)
    from ablatable.analysis.complexity import render

    if format != "text":
        typer.echo(render.RENDERERS[format](summary), nl=False)
        return
    typer.echo(render.text(summary, _width()))
    for path in paths:
        typer.echo(str(path))


def _settings(
    quick: bool, backward: bool, threads: int, device: Literal["cpu", "cuda"], rounds: int | None
) -> Settings:
    from dataclasses import replace

    from ablatable.analysis.complexity import settings

    asked = settings.Settings(threads=threads, device=device, backward=backward)
    asked = settings.quick(asked) if quick else asked
    return asked if rounds is None else replace(asked, rounds=rounds)


def _progress() -> Progress:
    """A line that is written over on a terminal, a line every tenth elsewhere; on stderr."""
    terminal = sys.stderr.isatty()

    def show(about: str, done: int, expected: int) -> None:
        if terminal:
            print(f"\r\x1b[K{about}: {done} of {expected}", end="\n" if done == expected else "", file=sys.stderr)
        elif done == expected or done * 10 // expected != (done - 1) * 10 // expected:
            print(f"{about}: {done} of {expected}", file=sys.stderr, flush=True)

    return show


def _width() -> int:
    """Columns of the terminal; elsewhere, as many as the widest table needs."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 150
