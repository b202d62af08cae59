"""`ablatable runs`: the runs there are, filtered and sorted."""

from __future__ import annotations

from typing import Annotated, Literal

import typer


def runs(
    filters: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILTER]...",
            help="Settings, labels or metrics, all of which must hold: model.position=rope 'bleu>20' study=table3.",
        ),
    ] = None,
    sort: Annotated[str | None, typer.Option(help="Smallest first by this key; by study, row and seed else.")] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    columns: Annotated[str | None, typer.Option(help="Keys to show, with commas, such as id,row,bleu.")] = None,
    source: Annotated[
        Literal["runs", "results"], typer.Option(help="The runs folder, or the published records in results/.")
    ] = "runs",
    format: Annotated[Literal["md", "json", "csv"], typer.Option(help="How to print.")] = "md",
) -> None:
    """List runs: finished, running, interrupted, failed and pruned ones."""
    from ablatable.config.locate import results_folder, runs_folder
    from ablatable.record.store import Store
    from ablatable.report.listing import entry, table
    from ablatable.report.make import uncollected

    with uncollected():
        entries = entry.from_store(Store(runs_folder())) if source == "runs" else entry.from_published(results_folder())
        made = table.listing(entries, filters or (), sort, columns, reverse)
        typer.echo(table.FORMATS[format](made), nl=False)
