"""`ablatable doctor`: what this machine can do, and what would make it do more.

Every question is asked so that no answer can stop the others: what cannot be found out is a finding itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from ablatable.cli.findings import machine, software
from ablatable.cli.findings.finding import Finding, State

MARKS: dict[State, str] = {"ok": "+", "note": "!", "missing": "-"}


def doctor(
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print.")] = "text",
) -> None:
    """What this machine can do: devices, corpora, W&B, SLURM, versions, folders."""
    import json

    report = examine()
    if format == "json":
        typer.echo(json.dumps({title: _as_json(findings) for title, findings in report.items()}, indent=2))
        return
    for title, findings in report.items():
        typer.echo(f"\n{title}")
        for finding in findings:
            typer.echo(f"  {MARKS[finding.state]} {finding.text}")
    typer.echo("\n+ fine   ! read this   - not available here")


def examine() -> dict[str, list[Finding]]:
    """Ask everything. Takes as long as importing torch; never raises."""
    questions: dict[str, Callable[[], Iterator[Finding]]] = {
        "machine": machine.machine,
        "accelerators": machine.accelerators,
        "corpora": software.corpora,
        "tracking": software.tracking,
        "cluster": machine.cluster,
        "packages": software.packages,
        "folders": machine.folders,
        "optional": software.optional,
    }
    return {title: list(_answers(question)) for title, question in questions.items()}


def _as_json(findings: list[Finding]) -> dict[str, object]:
    return {finding.key: {k: v for k, v in asdict(finding).items() if k != "key"} for finding in findings}


def _answers(question: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from question()
    except Exception as problem:  # noqa: BLE001 - a broken installation is what a doctor is called for: it is reported
        cause = f"{type(problem).__name__}: {problem}".splitlines()[0]
        yield Finding("problem", cause, f"could not be examined: {cause}", "note")
