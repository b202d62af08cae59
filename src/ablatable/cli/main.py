"""The command line: parse, call, print. Each command lives in its own file and imports what it needs when called."""

from __future__ import annotations

import sys

import typer

from ablatable.cli import (
    analyse,
    axes,
    compare,
    complexity,
    corpus,
    doctor,
    import_runs,
    plan,
    publish,
    run,
    runs,
    status,
    sweep,
    table,
    train,
    translate,
    wandb,
)
from ablatable.errors import InputError, RunFailed

app = typer.Typer(
    name="ablatable",
    help="Which of the Transformer's design choices matter, and how sure are you?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich costs a quarter of a second, which --help would pay
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(axes.axes)
app.add_typer(corpus.app, name="corpus")
app.add_typer(sweep.app, name="sweep")
app.command()(train.train)
app.command()(plan.plan)
app.command()(run.run)
app.command()(status.status)
app.command()(runs.runs)
app.command()(table.table)
app.command()(compare.compare)
app.command("import")(import_runs.import_runs)
app.command()(publish.publish)
app.command()(translate.translate)
app.add_typer(analyse.app, name="analyse")
app.command()(complexity.complexity)
app.add_typer(wandb.app, name="wandb")
app.command()(doctor.doctor)


def main() -> None:
    """Run the command line: 0 done, 1 a run or check failed, 2 bad input, each with one clear sentence."""
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except RunFailed as error:
        print(f"failed: {error}", file=sys.stderr)
        sys.exit(1)
