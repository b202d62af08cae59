"""`ablatable train`: one run, by hand or by a sweep's agent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer


def train(
    experiment: Annotated[str, typer.Argument(help="Name of an experiment in experiments/, or a path to one.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, such as model.heads=4.")] = None,
    scale: Annotated[str | None, typer.Option(help="How to shrink it, such as cpu.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the experiment's own otherwise.")] = None,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print the record.")] = "text",
) -> None:
    """Train one experiment, or go on where it stopped; print its metrics."""
    from ablatable.cli.running import prepare_together, train_one
    from ablatable.config.load import load_experiment
    from ablatable.errors import InputError, RunFailed

    words = list(overrides or [])
    if seed is not None:
        if any(word.startswith("seed=") for word in words):
            raise InputError("the seed is given twice, by --seed and by seed=; keep one")
        words.append(f"seed={seed}")
    loaded = load_experiment(experiment, words, scale)
    prepare_together([loaded])
    record = train_one(loaded, quiet=format == "json")
    if record is None:
        raise RunFailed("the run has no record; its log says why")
    if format == "json":
        from ablatable.record.store import encode_record

        typer.echo(encode_record(record), nl=False)
    else:
        typer.echo(_summary(record))
    if record.status != "completed":
        raise RunFailed(f"run {record.id} {record.status}: {record.cause}")


def _summary(record: Any) -> str:
    lines = [f"run {record.id}, seed {record.seed}: {record.status}, {record.parameters:,} parameters, {record.updates} updates"]
    lines += [f"  {name:16} {metric.value:10.4f} {metric.unit}" for name, metric in sorted(record.metrics.items())]
    return "\n".join(lines)

