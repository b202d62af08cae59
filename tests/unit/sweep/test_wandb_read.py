"""W&B's sweep files as ours: distributions, metric, early stopping, command; the rest refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from wandb.sdk.sweeps.scheduler.optuna import sweep_parameter_to_distribution
from wandb_schema import violations

from ablatable.errors import InputError
from ablatable.study.sweep.load import Plan, check_end, load_sweep
from ablatable.study.sweep.wandb.read import Read, load_wandb

ARGS = "${args_no_hyphens}"
WORDS = ["${env}", "ablatable", "train", "base", "data.corpus=synthetic-copy", ARGS]
CONFIG: dict[str, Any] = {
    "name": "A sweep of someone's",
    "method": "random",
    "metric": {"name": "valid/nll", "goal": "minimize"},
    "run_cap": 7,
    "parameters": {"model.heads": {"values": [1, 2, 4]}},
    "command": WORDS,
}


def read(folder: Path, *, valid: bool = True, **changes: Any) -> Read:
    """A W&B file with some keys replaced (None: left out)."""
    config = {key: value for key, value in {**CONFIG, **changes}.items() if value is not None}
    if valid:
        assert violations(config) == [], "W&B would not take this file itself"
    (folder / "their sweep.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    return load_wandb(folder / "their sweep.yaml")


def with_parameter(folder: Path, path: str, parameter: dict[str, Any], **changes: Any) -> Plan:
    return read(folder, parameters={path: parameter}, **changes).plan


def test_an_ordinary_sweep_comes_of_it(tmp_path: Path) -> None:
    sweep = read(tmp_path).plan.sweep
    assert (sweep.name, sweep.title, sweep.experiment, sweep.scale) == ("their-sweep", CONFIG["name"], "base", None)
    assert (sweep.sampler.kind, sweep.budget.trials, sweep.pruner.kind) == ("random", 7, "none")
    assert [objective.key for objective in sweep.objectives] == ["valid.nll"]


SAME = [
    ("model.heads", {"values": [1, 2]}),
    ("model.layers", {"min": 1, "max": 4}),
    ("model.layers", {"distribution": "int_uniform", "min": 1, "max": 4}),
    ("model.dropout", {"min": 0.0, "max": 0.5}),
    ("model.dropout", {"distribution": "uniform", "min": 0, "max": 0.5}),
    ("train.learning_rate_factor", {"distribution": "log_uniform_values", "min": 0.1, "max": 5}),
    ("model.dropout", {"distribution": "q_uniform", "min": 0.1, "max": 0.5, "q": 0.1}),
    ("train.batch_tokens", {"distribution": "q_uniform", "min": 256, "max": 1024, "q": 256}),
    ("train.warmup", {"distribution": "q_log_uniform_values", "min": 10, "max": 1600, "q": 1}),
]


@pytest.mark.parametrize(("path", "parameter"), SAME)
@pytest.mark.parametrize("method", ["random", "bayes"])
def test_it_is_searched_as_wandbs_client_searches_with_optuna(
    path: str, parameter: dict[str, Any], method: str, tmp_path: Path
) -> None:
    (found,) = with_parameter(tmp_path, path, parameter, method=method).space.parameters
    assert found.domain.distribution() == sweep_parameter_to_distribution(parameter)


def test_nested_parameters_are_paths_and_constants_are_fixed(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        parameters={
            "model": {"parameters": {"heads": {"values": [2, 4]}, "layers": {"value": 1}}},
            "train.updates": {"value": 50, "distribution": "constant"},
            "model.dropout": {"values": [0.1, 0.2], "probabilities": [0.5, 0.5]},
        },
    ).plan
    assert [parameter.path for parameter in plan.space.parameters] == ["model.heads", "model.dropout"]
    made = plan.ground.experiment({"model.heads": 2, "model.dropout": 0.2})
    assert (made.model.layers, made.train.updates, made.data.corpus) == (1, 50, "synthetic-copy")


def test_a_whole_step_of_a_fraction(tmp_path: Path) -> None:
    plan = with_parameter(tmp_path, "train.learning_rate_factor", {"min": 1, "max": 3})
    assert plan.space.parameters[0].domain.listed == (1.0, 2.0, 3.0), "W&B draws whole numbers between whole bounds"


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ({"distribution": "q_uniform", "min": 0.1, "max": 0.5, "q": 0.1}, (0.1, 0.2, 0.3, 0.4)),
        ({"distribution": "q_uniform", "min": 0.0, "max": 0.5, "q": 0.2}, (0.0, 0.2, 0.4)),
        ({"values": [0.3, 0.1]}, (0.3, 0.1)),
    ],
)
def test_a_grid_has_wandbs_values(parameter: dict[str, Any], values: tuple[float, ...], tmp_path: Path) -> None:
    plan = with_parameter(tmp_path, "model.dropout", parameter, method="grid", run_cap=None)
    assert tuple(point["model.dropout"] for point in plan.space.points()) == values


@pytest.mark.parametrize(
    ("path", "parameter", "message"),
    [
        ("model.head", {"values": [1]}, r"their sweep.yaml:8: unknown .*'model.head'.*did you mean 'model.heads'"),
        ("model.heads", {"values": [0]}, r"their sweep.yaml:8: model.heads=0 is not possible"),
        ("model.dropout", {"distribution": "normal", "mu": 0.1}, "the distribution normal, which is not drawn here"),
        ("model.dropout", {"distribution": "q_beta"}, "the distribution q_beta, which is not drawn here"),
        ("model.dropout", {"distribution": "log_uniform", "min": -3, "max": -1}, "write log_uniform_values"),
        ("model.dropout", {"distribution": "inv_log_uniform_values", "min": 0.1, "max": 0.2}, "log_uniform_values"),
        ("model.heads", {"values": [1, 2], "probabilities": [0.1, 0.9]}, "uneven probabilities"),
        ("model.layers", {"distribution": "uniform", "min": 1, "max": 4}, "which uniform does not draw; write int"),
        ("train.warmup", {"distribution": "log_uniform_values", "min": 1, "max": 4}, "write q_log_uniform_values with"),
        ("train.warmup", {"distribution": "q_log_uniform_values", "min": 1, "max": 4, "q": 2}, "list the values"),
        ("model.dropout", {"distribution": "q_uniform", "min": 0.05, "max": 0.5, "q": 0.1}, "multiples of q"),
        ("evaluate.length_buckets", {"values": [[1], [2]]}, "takes one value at a time"),
        ("seed", {"values": [1, 2]}, "the seed is no choice to search"),
        ("runtime.threads", {"values": [1, 2]}, "says how to run, not what"),
        ("data.corpus", {"value": "toy-en-de"}, "data.corpus is set twice"),
    ],
)  # fmt: skip
def test_a_parameter_without_counterpart(path: str, parameter: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        with_parameter(tmp_path, path, parameter)


@pytest.mark.parametrize(
    ("path", "parameter", "message"),
    [
        ("model.layers", {"min": 4, "max": 1}, "min .4. of model.layers is not below its max .1."),
        ("model.layers", {"min": 4}, "model.layers is uniform and has no max"),
        ("model.layers", {"distribution": "unifrom", "min": 1, "max": 2}, "'unifrom'; did you mean 'uniform'"),
        ("model.layers", 3, "model.layers is a mapping"),
        ("model.layers", {"min": "a", "max": 2}, "are numbers, not 'a'"),
    ],
)  # fmt: skip
def test_a_parameter_that_wandb_would_refuse_too(path: str, parameter: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, valid=False, parameters={path: parameter})


@pytest.mark.parametrize(
    ("name", "goal", "key"),
    [
        ("valid/nll", "minimize", "valid.nll"),
        ("valid/ppl", "minimize", "valid.ppl"),
        ("valid.bleu", "maximize", "valid.bleu"),
        ("bleu", "maximize", "valid.bleu"),
        ("flops", "minimize", "flops"),
    ],
)
def test_metrics(name: str, goal: str, key: str, tmp_path: Path) -> None:
    assert read(tmp_path, metric={"name": name, "goal": goal}).plan.sweep.objectives[0].key == key


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ({"name": "valid.bleu"}, "of valid.bleu the higher is better; write goal: maximize"),
        ({"name": "train/loss"}, "cannot go by the metric 'train/loss'; known: valid.nll"),
        ({"name": "test.bleu", "goal": "maximize"}, "cannot go by the metric 'test.bleu'; did you mean 'valid.bleu'"),
        ({"name": "valid/nll", "target": 2.0}, "does not end at a metric's target"),
    ],
)
def test_metrics_that_no_search_goes_by(metric: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"their sweep.yaml:3: .*{message}"):
        read(tmp_path, metric=metric)


def test_what_is_done_differently_is_told(tmp_path: Path) -> None:
    assert read(tmp_path).notes == ()
    assert "lowest valid.nll" in read(tmp_path, metric=None).notes[0]
    assert "impute is left out" in read(tmp_path, metric={"name": "valid/nll", "impute": "worst"}).notes[0]
    with pytest.raises(InputError, match="'metric' says what is made better"):
        read(tmp_path, metric=None, method="bayes")


@pytest.mark.parametrize(
    ("stops", "first", "factor"),
    [
        ({"min_iter": 3}, 300, 3),
        ({"min_iter": 2, "eta": 2, "strict": True}, 200, 2),
        ({"max_iter": 27, "s": 2}, 300, 3),
        ({"max_iter": 8, "s": 9, "eta": 2}, 100, 2),
    ],
)
def test_hyperband_is_one_bracket_of_halving(stops: dict[str, Any], first: int, factor: int, tmp_path: Path) -> None:
    words = [*WORDS[:-1], "train.validate_every=100", WORDS[-1]]
    pruner = read(tmp_path, early_terminate={"type": "hyperband", **stops}, command=words).plan.sweep.pruner
    assert (pruner.kind, pruner.first, pruner.factor) == ("asha", first, factor)


@pytest.mark.parametrize(
    ("stops", "message"),
    [
        ({"type": "hyperband", "min_iter": 3, "eta": 2.5}, "eta .2.5. is a whole number from 2"),
        ({"type": "hyperband", "max_iter": 2, "s": 1}, "max_iter .2. is below eta .3."),
    ],
)
def test_early_stopping_without_counterpart(stops: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, early_terminate=stops)
    with pytest.raises(InputError, match="W&B knows hyperband alone"):
        read(tmp_path, early_terminate={"type": "envelope"}, valid=False)


@pytest.mark.parametrize(
    "command",
    [
        ["${env}", "${program}", "train", "base", "--scale", "cpu", "model.layers=1", "${args_no_hyphens}"],
        ["/usr/bin/env", "ablatable", "train", "base", "model.layers=1", "--scale=cpu", "${args_no_hyphens}"],
        ["${interpreter}", "/opt/bin/ablatable", "train", "--scale", "cpu", "base", ARGS, "model.layers=1"],
        ["ablatable", "train", "${envvar:WHICH}", "--scale", "cpu", "--format", "json", "model.layers=1", ARGS],
    ],
)  # fmt: skip
def test_the_command_in_whichever_form(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHICH", "base")
    plan = read(tmp_path, program="ablatable", command=command).plan
    assert (plan.sweep.experiment, plan.sweep.scale) == ("base", "cpu")
    assert plan.ground.value("model.layers") == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"command": None, "program": "train.py"}, "the command runs `train.py .{args}`, and only `ablatable train`"),
        ({"command": None, "program": "ablatable"}, "only `ablatable train` is run here"),
        ({"command": None}, r"calls \$\{program\} and none is named"),
        ({"command": ["ablatable", "train", "base", "${args}"]}, r"which \$\{args\} is not; write \$\{args_no"),
        ({"command": ["ablatable", "train", "base"]}, "hands over no parameters"),
        ({"command": ["ablatable", "train", "${args_no_hyphens}"]}, "names no experiment"),
        ({"command": ["ablatable", "train", "base", "big", ARGS]}, r"several experiments \(base, big\)"),
        ({"command": ["ablatable", "train", "base", "--fast", "${args_no_hyphens}"]}, "--fast is no option"),
        ({"command": ["ablatable", "train", "base", "${args_no_hyphens}", "--scale"]}, "--scale has no value"),
        ({"command": ["ablatable", "train", "bsae", "${args_no_hyphens}"]}, "unknown experiment 'bsae'"),
        ({"command": ["ablatable", "train", "base", "x.y=1", "${args_no_hyphens}"]}, "x.y"),
        ({"method": "custom"}, "unknown method 'custom'; known: grid, random, bayes"),
        ({"scheduler": {"engine": "optuna"}}, "'scheduler': a scheduler of W&B's is not run here"),
    ],
)  # fmt: skip
def test_files_that_run_something_else(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, **changes)


def test_a_misspelt_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown key 'runcap'; did you mean 'run_cap'"):
        read(tmp_path, valid=False, runcap=3)


def test_runs_go_offline_into_the_project_of_the_file(tmp_path: Path) -> None:
    words = [*WORDS[:-1], "tracking.wandb=online", WORDS[-1]]
    ground = read(tmp_path, command=words, project="theirs", entity="them").plan.ground
    assert [ground.value(f"tracking.{key}") for key in ("wandb", "project", "entity")] == ["offline", "theirs", "them"]
    off = read(tmp_path, command=[*WORDS[:-1], "tracking.wandb=off", WORDS[-1]]).plan.ground
    assert off.value("tracking.wandb") == "off"


def test_without_an_end_it_waits_for_trials(tmp_path: Path) -> None:
    plan = read(tmp_path, run_cap=None).plan
    with pytest.raises(InputError, match=r"their sweep.yaml:2: the sampler random has no end; .*'run_cap'"):
        check_end(plan.sweep)


def test_given_as_one_of_ours_it_says_how(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(InputError, match="this is a sweep of W&B's; give it with --from-wandb"):
        load_sweep(tmp_path / "their sweep.yaml")
