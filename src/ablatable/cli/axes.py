"""`ablatable axes`: the design space."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ablatable.config.tree import Leaf


def axes(
    path: Annotated[
        str | None, typer.Argument(help="One choice, such as model.position, or a section, such as model.")
    ] = None,
    format: Annotated[
        Literal["text", "json", "markdown", "study"],
        typer.Option(help="How to print; study: a table for ablations/ with one row per value, the base beside it."),
    ] = "text",
) -> None:
    """Every choice, its default and values; of a section or a choice more: sources, what it changes and needs."""
    chosen = _chosen(path)
    if format == "json":
        typer.echo(json.dumps([_as_data(leaf) for leaf in chosen], indent=1))
    elif format == "markdown":
        from ablatable.report.design_space import render

        typer.echo(render(None if path is None else chosen), nl=False)
    elif format == "study":
        from ablatable.study.one_by_one import one_by_one

        typer.echo(one_by_one([leaf.path for leaf in chosen]), nl=False)
    else:
        _print_text(chosen, path)


def _chosen(path: str | None) -> list[Leaf]:
    from ablatable.config.tree import leaf, leaves

    known = leaves().values()
    chosen = [one for one in known if path is None or one.path == path or one.path.startswith(f"{path}.")]
    if not chosen and path is not None:
        leaf(path, "axes")  # raises with the nearest name
    return chosen


def _as_data(leaf: Leaf) -> dict[str, Any]:
    from ablatable.config.parts import kind_of
    from ablatable.config.tree import values_of
    from ablatable.report.design_space import is_closed, said_needs

    axis = leaf.axis
    annotation = leaf.annotation
    plain = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
    return {
        "path": leaf.path,
        "kind": kind_of(leaf),
        "label": axis.label if axis else None,
        "section": axis.section if axis else None,
        "description": leaf.description,
        "type": "choice" if is_closed(leaf) and annotation is not bool else plain,
        "default": leaf.default,
        "values": list(values_of(leaf.path)),
        "bounds": leaf.limits or None,
        "changes": sorted(effect.value for effect in axis.changes) if axis else [],
        "needs": said_needs(leaf) or None,
        "scales_with": axis.scales if axis else None,
        "search": list(axis.search) if axis else [],
        "sources": dict(axis.choices) if axis else {},
    }


def _print_text(chosen: list[Leaf], path: str | None) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if len(chosen) == 1 and chosen[0].path == path:
        _print_one(console, chosen[0])
    else:
        _print_parts(console, chosen, described=path is not None)


def _print_parts(console: Console, chosen: list[Leaf], described: bool) -> None:
    """A line for each leaf, part by part, and (``described``) below it what it is."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from ablatable.config.parts import parts
    from ablatable.report.design_space import default_of, said_values

    widest = max(len(leaf.path) for leaf in chosen)
    for part in parts(chosen):
        title = part.section if part.name == part.section else f"{part.section}, {part.name}"
        console.print(f"{title}: {part.about.partition('. ')[0].rstrip('.')}", style="bold")
        shown = Table.grid(padding=(0, 2))
        shown.add_column(width=widest)
        shown.add_column(min_width=12)
        shown.add_column(ratio=1)
        for leaf in part.leaves:
            values = Text(said_values(leaf))
            if described:
                values.append(f"\n{leaf.description}" if values else leaf.description, style="dim")
            shown.add_row(leaf.path, default_of(leaf), values)
        console.print(Padding(shown, (0, 0, 1, 2)))
    console.print("Key, default, and all values (a | b) or some worth trying (1, 2, ...). More: ablatable axes KEY")


def _print_one(console: Console, leaf: Leaf) -> None:
    from rich.table import Table

    console.print(leaf.path, style="bold", end=": ")
    console.print(leaf.description)
    console.print()
    shown = Table.grid(padding=(0, 2))
    for name, entry in _facts(leaf):
        shown.add_row(name, entry)
    console.print(shown)


def _facts(leaf: Leaf) -> Iterator[tuple[str, Any]]:
    """What is known of a choice, by name; nothing that it doesn't have."""
    from ablatable.config.parts import dependents, kind_of
    from ablatable.report.design_space import default_of, said_needs, said_section, said_sweep

    axis = leaf.axis
    facts = {
        "kind": kind_of(leaf),
        "source": said_section(leaf),
        "default": default_of(leaf),
        "values": _values(leaf),
        "bounds": leaf.limits,
        "sweep": said_sweep(leaf),
        "scale": f"multiplied by {axis.scales}" if axis and axis.scales else "",
        "changes": "\n".join(f"{effect.value}: {effect.meaning}" for effect in sorted(axis.changes)) if axis else "",
        "needs": said_needs(leaf),
        "needed by": ", ".join(other.path for other in dependents(leaf.path)),
    }
    return ((name, entry) for name, entry in facts.items() if entry)


def _values(leaf: Leaf) -> Any:
    """The values, each with its source where it has one of its own."""
    from rich.table import Table

    from ablatable.config.layers import said
    from ablatable.report.design_space import said_company, said_values

    axis = leaf.axis
    if axis is None or not (axis.choices or axis.companions):
        return said_values(leaf)
    listed = Table.grid(padding=(0, 2))
    for value in axis.values:
        listed.add_row(said(value), axis.choices.get(value, "") + said_company(leaf, value))
    return listed
