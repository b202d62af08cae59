"""`ablatable axes`: the design space."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, get_args, get_origin

import typer


def axes(
    path: Annotated[
        str | None, typer.Argument(help="One choice, such as model.position, or a section, such as model.")
    ] = None,
    format: Annotated[
        Literal["text", "json", "study"],
        typer.Option(help="How to print; study: a table for ablations/ with one row per value, the base beside it."),
    ] = "text",
) -> None:
    """Every choice: values, default, section of the paper, what it changes."""
    from ablatable.config.tree import Leaf, leaf, leaves

    def wanted(known: Leaf) -> bool:
        return path is None or known.path == path or known.path.startswith(f"{path}.")

    chosen = [known for known in leaves().values() if wanted(known)]
    if not chosen and path is not None:
        leaf(path, "axes")  # raises with the nearest name
    if format == "json":
        typer.echo(json.dumps([_as_data(known) for known in chosen], indent=1))
    elif format == "study":
        from ablatable.study.one_by_one import one_by_one

        typer.echo(one_by_one([known.path for known in chosen]), nl=False)
    else:
        _print_text(chosen)


def _as_data(known: Any) -> dict[str, Any]:
    from ablatable.config.tree import values_of

    axis = known.axis
    return {
        "path": known.path,
        "kind": "design choice" if axis else "operational" if not known.semantic else "setting",
        "label": axis.label if axis else None,
        "section": axis.section if axis else None,
        "description": known.description,
        "type": _type_name(known.annotation, bool(axis and axis.choices)),
        "default": known.default,
        "values": list(values_of(known.path)),
        "changes": sorted(effect.value for effect in axis.changes) if axis else [],
        "needs": " and ".join(str(need) for need in known.needs) or None,
        "scales_with": axis.scales if axis else None,
        "sources": dict(axis.choices) if axis else {},
    }


def _literal(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return ()


def _type_name(annotation: Any, axis_choices: bool) -> str:
    if axis_choices or _literal(annotation):
        return "choice"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _print_text(chosen: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from ablatable.config.layers import said

    for title, kind in (
        ("Design choices", "design choice"),
        ("Settings", "setting"),
        ("Operational", "operational"),
    ):
        rows = [row for row in map(_as_data, chosen) if row["kind"] == kind]
        if not rows:
            continue
        shown = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for header in ("key", "default", "values", "paper", "changes", "what it is"):
            shown.add_column(header, overflow="fold")
        for row in rows:
            needs = f" (needs {row['needs']})" if row["needs"] else ""
            shown.add_row(
                row["path"],
                said(row["default"]),
                ", ".join(said(value) for value in row["values"]),
                row["section"] or "",
                ", ".join(row["changes"]),
                row["description"] + needs,
            )
        Console().print(shown)
