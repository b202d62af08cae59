"""A study's comparison as a W&B report: curves, final metrics, sentences and the table side by side."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ablatable.errors import InputError, RunFailed
from ablatable.tracking.opening import check_login

if TYPE_CHECKING:
    from wandb_workspaces.reports.v2.interface import Report

_WIDTH, _HEIGHT = 8, 6
"""Of a panel, in the report's grid of 24 columns."""


@dataclass(frozen=True)
class Overview:
    """What a report says of a study. ``metrics`` are the table's columns as (label, name in the summary)."""

    study: str
    scale: str
    title: str
    question: str | None
    metrics: Sequence[tuple[str, str]]
    split: str


def check_reports() -> None:
    """Refuse a report where none can be sent.

    Raises:
        InputError: the package that builds it is not installed, or there is no login.
    """
    if importlib.util.find_spec("wandb_workspaces") is None:
        raise InputError("a W&B report needs the wandb-workspaces package; pip install 'ablatable[reports]'")
    check_login("a W&B report", "use `ablatable table` or `ablatable wandb table`, which need no account")


def build(overview: Overview, project: str, entity: str | None) -> Report:
    """The report, not sent anywhere. Without an entity W&B is asked for the account's own."""
    import wandb_workspaces.reports.v2.interface as wr

    where: dict[str, Any] = {"project": project} | ({"entity": entity} if entity else {})
    runs = wr.Runset(
        name=overview.study,
        filters=f"Group = '{overview.study}' and JobType = 'train' and Tags = '{overview.scale}'",
        groupby=["config.run.row"],
        **where,
    )
    table = wr.Runset(name="table", filters=f"Group = '{overview.study}' and JobType = 'table'", **where)
    blocks: list[Any] = [wr.P(text=overview.question)] if overview.question else []
    blocks += [
        wr.H2(text="The table"),
        wr.PanelGrid(runsets=[table], panels=[wr.WeavePanelSummaryTable(table_name="table", layout=_place(0, 24))]),
        wr.H2(text="Learning curves"),
        wr.PanelGrid(runsets=[runs], panels=_curves()),
        wr.H2(text="Final metrics"),
        wr.PanelGrid(runsets=[runs], panels=_bars(overview.metrics)),
        wr.H2(text="What the models say and look at"),
        wr.PanelGrid(runsets=[runs], panels=_shown(overview.split)),
    ]
    title = f"{overview.title} (scale {overview.scale})"
    return wr.Report(
        title=title, description=f"ablatable, study {overview.study}", blocks=blocks, width="fluid", **where
    )


def send(report: Report) -> str:
    """Send a report; returns its address. Raises RunFailed where W&B does not take it."""
    try:
        report.save()
    except Exception as error:  # the client passes on all its transport raises; nothing is swallowed
        raise RunFailed(f"W&B did not take the report: {type(error).__name__}: {error}") from error
    return str(report.url)


def _place(number: int, width: int = _WIDTH) -> Any:
    import wandb_workspaces.reports.v2.interface as wr

    abreast = 24 // width
    return wr.Layout(x=number % abreast * width, y=number // abreast * _HEIGHT, w=width, h=_HEIGHT)


def _curves() -> list[Any]:
    import wandb_workspaces.reports.v2.interface as wr

    wanted = [(axis, name) for name in ("valid/nll", "train/loss") for axis in ("update", "target_tokens", "seconds")]
    return [
        wr.LinePlot(title=f"{name} by {axis}", x=axis, y=[name], layout=_place(number))
        for number, (axis, name) in enumerate(wanted)
    ]


def _bars(metrics: Sequence[tuple[str, str]]) -> list[Any]:
    import wandb_workspaces.reports.v2.interface as wr

    return [
        wr.BarPlot(title=label, metrics=[wr.SummaryMetric(name=name)], layout=_place(number))
        for number, (label, name) in enumerate(metrics)
    ]


def _shown(split: str) -> list[Any]:
    import wandb_workspaces.reports.v2.interface as wr

    return [
        wr.WeavePanelSummaryTable(table_name=f"hypotheses/{split}", layout=_place(0, 12)),
        wr.MediaBrowser(media_keys=["attention/cross"], layout=_place(1, 12)),
        wr.RunComparer(diff_only=True, layout=_place(2, 12)),
    ]
