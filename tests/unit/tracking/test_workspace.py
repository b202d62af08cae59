"""The W&B report of a study, as far as it can be built without an account."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from wandb_workspaces import expr
from wandb_workspaces.reports.v2 import interface

from ablatable.errors import InputError
from ablatable.tracking.workspace import Overview, build, check_reports

OVERVIEW = Overview("norms", "cpu", "Norms", "Which?", [("PPL", "valid.ppl"), ("params (M)", "parameters")], "valid")


@pytest.fixture(scope="module")
def grids() -> list[Any]:
    report = build(OVERVIEW, "papers", "lab")
    assert report.title == "Norms (scale cpu)"
    assert (report.project, report.entity) == ("papers", "lab")
    return [block for block in report.blocks if isinstance(block, interface.PanelGrid)]


def test_the_rows_are_found_by_group_job_and_scale_and_grouped_by_row(grids: list[Any]) -> None:
    runs = [runset for grid in grids[1:] for runset in grid.runsets]
    assert {runset.filters for runset in runs} == {"Group = 'norms' and JobType = 'train' and Tags = 'cpu'"}
    assert all(runset.groupby == ["config.run.row"] for runset in runs)
    parsed = expr.expr_to_filters(runs[0].filters).filters or []
    assert [(part.key.name, part.value) for part in parsed if part.key is not None] == [
        ("group", "norms"),
        ("jobType", "train"),
        ("tags", "cpu"),
    ]
    assert grids[0].runsets[0].filters == "Group = 'norms' and JobType = 'table'"


def test_the_panels_show_what_runs_log(grids: list[Any]) -> None:
    models = [
        [panel._to_model().model_dump(by_alias=True, exclude_none=True) for panel in grid.panels] for grid in grids
    ]
    curves, bars = ([panel["config"] for panel in grid] for grid in models[1:3])
    assert {(one["xAxis"], *one["metrics"]) for one in curves} == {
        (axis, name) for axis in ("update", "target_tokens", "seconds") for name in ("valid/nll", "train/loss")
    }
    assert [one["metrics"] for one in bars] == [["summary_metrics.valid.ppl"], ["summary_metrics.parameters"]]
    assert [one["chartTitle"] for one in bars] == ["PPL", "params (M)"]
    assert "hypotheses/valid" in str(models[3][0])
    assert models[3][1]["config"]["mediaKeys"] == ["attention/cross"]
    assert "'table'" in str(models[0][0])


def test_no_panel_lies_on_another(grids: list[Any]) -> None:
    for grid in grids:
        places = [panel.layout for panel in grid.panels]
        assert len({(place.x, place.y) for place in places}) == len(places)
        assert all(place.x + place.w <= 24 for place in places)


def test_without_a_login_it_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with pytest.raises(InputError, match="a W&B report needs a login; run `wandb login`, or use `ablatable table`"):
        check_reports()


def test_without_the_package_it_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb_workspaces", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'ablatable\[reports\]'"):
        check_reports()
