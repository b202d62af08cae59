"""Our sweeps as W&B's: valid by its own schema, read back as the same search, or refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sweep_files import MakeSweep
from test_shipped_sweeps import NAMES, plan
from wandb.sdk.sweeps.scheduler.optuna import sweep_parameter_to_distribution
from wandb_schema import violations

from ablatable.errors import InputError
from ablatable.study.sweep.keeper import description
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.wandb.read import load_wandb
from ablatable.study.sweep.wandb.write import export, write

REFUSED = {
    "cost-bleu": "a W&B sweep has one metric",
    "heads-key-width": "W&B has no list of points",
    "size-budget": "W&B has no list of points",
    "tokenizer-size": "tokenizer.size means something only with tokenizer.kind other than byte",
}


def written(made: Plan) -> dict[str, Any]:
    """The export as W&B's client reads it."""
    config: dict[str, Any] = yaml.safe_load(export(made).text)
    assert violations(config) == []
    return config


def test_the_schema_finds_faults() -> None:
    assert violations({"method": "bays", "parameters": {"a": {"values": [1]}}})
    assert violations({"method": "grid", "parameters": {"a": {"distribution": "uniform", "min": 1}}})
    assert violations(
        {"method": "grid", "parameters": {"a": {"values": [1]}}, "early_terminate": {"type": "hyperband"}}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_sweep_is_exported_and_read_back_or_refused(name: str, tmp_path: Path) -> None:
    ours = plan(name)
    if name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[name]):
            export(ours)
        return
    written(ours)
    write(export(ours), tmp_path / f"{name}.yaml")
    theirs = load_wandb(tmp_path / f"{name}.yaml").plan
    assert theirs.space.parameters == ours.space.parameters
    assert description(theirs, "c") == description(ours, "c"), "the one's storage is the other's"
    assert theirs.sweep.budget == ours.sweep.budget
    assert theirs.ground.value("tracking.wandb") == "offline"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_wandbs_own_client_draws_from_the_same_ranges(name: str) -> None:
    made = plan(name)
    parameters = written(made)["parameters"]
    for parameter in made.space.parameters:
        assert sweep_parameter_to_distribution(parameters[parameter.path]) == parameter.domain.distribution()


def test_what_every_range_becomes(sweep: MakeSweep) -> None:
    made = sweep(
        space={
            "train.warmup": {"low": 10, "high": 1000, "log": True},
            "model.layers": {"low": 1, "high": 4},
            "model.heads": {"values": [1, 2, 4]},
            "model.dropout": {"low": 0.1, "high": 0.5, "step": 0.1},
            "train.batch_tokens": {"low": 256, "high": 1024, "step": 256},
            "train.learning_rate_factor": {"low": 0.1, "high": 5.0, "log": True},
            "train.label_smoothing": {"low": 0.0, "high": 0.2},
            "train.validate_every": {"low": 5, "high": 25, "step": 10},
            "model.dropout_embedding": {"values": [None, 0.1]},
        },
        fixed={"data.corpus": "synthetic-copy", "evaluate.splits": ["valid"], "tracking.project": "mine"},
    )
    config = written(made)
    assert config["parameters"] == {
        "data.corpus": {"value": "synthetic-copy"},
        "evaluate.splits": {"value": ["valid"]},
        "train.warmup": {"distribution": "q_log_uniform_values", "min": 10, "max": 1000, "q": 1},
        "model.layers": {"distribution": "int_uniform", "min": 1, "max": 4},
        "model.heads": {"values": [1, 2, 4]},
        "model.dropout": {"distribution": "q_uniform", "min": 0.1, "max": 0.5, "q": 0.1},
        "train.batch_tokens": {"distribution": "q_uniform", "min": 256, "max": 1024, "q": 256},
        "train.learning_rate_factor": {"distribution": "log_uniform_values", "min": 0.1, "max": 5.0},
        "train.label_smoothing": {"distribution": "uniform", "min": 0.0, "max": 0.2},
        "train.validate_every": {"values": [5, 15, 25]},
        "model.dropout_embedding": {"values": [None, 0.1]},
    }
    assert config["project"] == "mine"
    assert config["command"] == [
        "${env}", "${program}", "train", "base", "tracking.wandb=online", "${args_no_hyphens}",
    ]  # fmt: skip


def test_a_grid_is_lists_for_wandbs_own_steps_leave_out_the_last(sweep: MakeSweep, tmp_path: Path) -> None:
    made = sweep(
        space={"model.dropout": {"low": 0.1, "high": 0.5, "step": 0.1}, "model.layers": {"low": 1, "high": 2}},
        sampler={"kind": "grid"},
    )
    config = written(made)
    assert config["parameters"]["model.dropout"] == {"values": pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])}
    (tmp_path / "g.yaml").write_text(export(made).text)
    assert list(load_wandb(tmp_path / "g.yaml").plan.space.points()) == list(made.space.points())


@pytest.mark.parametrize(
    ("pruner", "objective", "stops", "note"),
    [
        ({"kind": "asha"}, "nll", (1, 3), ""),
        ({"kind": "asha", "first": 3000, "factor": 2}, "ppl", (3, 2), ""),
        ({"kind": "asha", "first": 2500}, "nll", (3, 3), "at update 3000, not 2500"),
        ({"kind": "hyperband"}, "nll", (1, 3), "one of hyperband's brackets"),
        ({"kind": "asha"}, "bleu", None, "bleu is known at the end"),
        ({"kind": "median"}, "nll", None, "no counterpart of the pruner median"),
    ],
)
def test_pruners(
    sweep: MakeSweep, pruner: dict[str, Any], objective: str, stops: tuple[int, int] | None, note: str
) -> None:
    made = sweep(pruner=pruner, objectives=[{"metric": objective}])
    config = written(made)
    early = stops and {"type": "hyperband", "min_iter": stops[0], "eta": stops[1], "strict": True}
    assert config.get("early_terminate") == early
    assert config["metric"]["name"] == (f"valid/{objective}" if stops else f"valid.{objective}")
    assert note in " ".join(export(made).notes)
    assert bool(note) == bool(export(made).notes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 3}, "W&B compares single runs, not means over 3 seeds"),
        ({"sampler": {"kind": "nsga2"}}, "no counterpart of the sampler nsga2"),
        (
            {
                "space": {
                    "model.position": {"values": ["rope", "sinusoidal"]},
                    "model.position_base": {"low": 100.0, "high": 1000.0, "when": {"model.position": "rope"}},
                }
            },
            "sweeps/s.yaml:.*: model.position_base means something only with model.position=rope",
        ),
    ],
)
def test_what_wandb_cannot_express(sweep: MakeSweep, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        export(sweep(**changes))


def test_points_that_will_fail_are_told(sweep: MakeSweep) -> None:
    made = sweep(space={"model.heads": {"values": [4, 3]}}, sampler={"kind": "grid"}, budget=None)
    (note,) = export(made).notes
    assert "Some points are impossible, such as:" in note
    assert "WANDB_AGENT_DISABLE_FLAPPING" in note


def test_another_file_is_not_overwritten(sweep: MakeSweep, tmp_path: Path) -> None:
    made = export(sweep())
    write(made, tmp_path / "w.yaml")
    write(made, tmp_path / "w.yaml")
    (tmp_path / "w.yaml").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        write(made, tmp_path / "w.yaml")
