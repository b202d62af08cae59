"""Sweep files: what is read, and what is refused with file, line, key and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sweep_files import MakeSweep

from ablatable.errors import InputError
from ablatable.study.sweep.domains import Choice, Interval
from ablatable.study.sweep.load import Plan, load_sweep


def domain(plan: Plan, path: str) -> Choice | Interval:
    return next(parameter.domain for parameter in plan.space.parameters if parameter.path == path)


def test_ranges_come_from_the_axis(sweep: MakeSweep) -> None:
    plan = sweep(space={"train.learning_rate_factor": "axis", "train.warmup": "axis", "model.norm": "axis"})
    assert domain(plan, "train.learning_rate_factor") == Interval(0.1, 5.0, log=True)
    assert domain(plan, "train.warmup") == Interval(100, 16000, log=True, whole=True)
    assert domain(plan, "model.norm") == Choice(("layer", "rms", "scale", "batch", "minmax", "none"))


def test_a_grid_takes_the_values_worth_trying(sweep: MakeSweep) -> None:
    plan = sweep(space={"train.learning_rate_factor": "axis"}, sampler={"kind": "grid"})
    assert domain(plan, "train.learning_rate_factor") == Choice((0.5, 1.0, 2.0))


def test_what_the_axis_declares_shrinks_with_the_scale_and_what_the_file_says_does_not(sweep: MakeSweep) -> None:
    fixed = {"tracking.wandb": "off"}
    plan = sweep(scale="cpu", fixed=fixed, space={"model.d_model": "axis", "model.layers": {"low": 1, "high": 5}})
    assert domain(plan, "model.d_model") == Interval(16, 256, log=True, whole=True)
    assert domain(plan, "model.layers") == Interval(1, 5, whole=True)
    assert plan.ground.experiment({"model.layers": 5, "model.d_model": 64}).model.layers == 5


def test_fixed_settings_lie_over_the_scale_and_below_the_point(sweep: MakeSweep) -> None:
    fixed = {"train": {"warmup": 77}, "model.heads": 8}
    plan = sweep(scale="cpu", fixed=fixed, space={"model.dropout": {"values": [0.0]}})
    made = plan.ground.experiment({"model.dropout": 0.0})
    assert (made.train.warmup, made.model.heads, made.model.dropout) == (77, 8, 0.0)
    assert made.data.corpus == "lohelp-en-de"


def test_repeats_take_the_next_seeds(sweep: MakeSweep) -> None:
    plan = sweep(seeds=3, fixed={"seed": 5})
    assert [one.seed for one in plan.ground.repeats({"train.warmup": 10, "model.heads": 2})] == [5, 6, 7]


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown key": ({"samplr": {}}, ["sweeps/s.yaml", "unknown key 'samplr'", "did you mean 'sampler'"]),
    "no objective": ({"objectives": []}, ["objectives", "at least 1"]),
    "missing": ({"experiment": None}, ["'experiment' is missing; add it"]),
    "unknown experiment": ({"experiment": "bse"}, ["sweeps/s.yaml:3", "unknown experiment 'bse'", "'base'"]),
    "unknown scale": ({"scale": "cpx"}, ["sweeps/s.yaml", "unknown scale 'cpx'"]),
    "unknown axis": (
        {"space": {"train.warm_up": {"low": 1, "high": 2}}},
        ["sweeps/s.yaml:8", "unknown key 'train.warm_up'", "did you mean 'train.warmup'"],
    ),
    "section": ({"space": {"model": "axis"}}, ["'model' is a section", "such as model."]),
    "value out of bounds": (
        {"space": {"model.dropout": {"values": [0.1, 1.5]}}},
        ["sweeps/s.yaml:8: model.dropout=1.5 is not possible", "bounds: from 0 to below 1"],
    ),
    "bound out of bounds": (
        {"space": {"train.warmup": {"low": 0, "high": 10}}},
        ["train.warmup=0 is not possible", "from 1 to 10000000"],
    ),
    "unknown choice": ({"space": {"model.norm": {"values": ["layr"]}}}, ["model.norm=layr is not possible"]),
    "unknown corpus": (
        {"space": {"data.corpus": {"values": ["toy"]}}, "fixed": None, "objectives": [{"metric": "bleu"}]},
        ["unknown corpus 'toy'", "toy-en-de"],
    ),
    "wrong type": ({"space": {"model.heads": {"values": ["four"]}}}, ["model.heads=four is not possible"]),
    "fraction": ({"space": {"model.heads": {"low": 1.5, "high": 4}}}, ["model.heads is a whole number"]),
    "interval of names": ({"space": {"model.norm": {"low": 1, "high": 2}}}, ["model.norm is no number", "[layer"]),
    "nothing declared": (
        {"space": {"train.max_target_tokens": "axis"}},
        ["train.max_target_tokens declares no range", "'low' and 'high'"],
    ),
    "replaced by the scale": (
        {"scale": "cpu", "space": {"tokenizer.size": "axis"}, "objectives": [{"metric": "bpc"}]},
        ["declares its range at paper size and the scale cpu replaces"],
    ),
    "a word for a range": ({"space": {"model.heads": "axes"}}, ["say what model.heads may be", "axis"]),
    "no value": ({"space": {"model.heads": {"values": []}}}, ["'values' is empty"]),
    "half an interval": ({"space": {"model.heads": {"low": 1}}}, ["'low' and 'high' go together"]),
    "both": ({"space": {"model.heads": {"values": [1], "low": 1, "high": 2}}}, ["either 'values' or 'low'"]),
    "empty interval": ({"space": {"model.heads": {"low": 4, "high": 2}}}, ["'low' (4) is not below 'high' (2)"]),
    "log of zero": ({"space": {"model.dropout": {"low": 0.0, "high": 0.5, "log": True}}}, ["'log' needs a 'low'"]),
    "step": ({"space": {"model.dropout": {"low": 0.0, "high": 0.5, "step": 0.2}}}, ["'step' (0.2) does not lead"]),
    "twice": ({"space": {"model.heads": {"values": [1, 1]}}}, ["a value is there twice"]),
    "seed": ({"space": {"seed": {"low": 1, "high": 9}}}, ["can't search the seed", "'seeds'"]),
    "splits": ({"space": {"evaluate.splits": {"values": ["valid"]}}}, ["development data alone"]),
    "operational": ({"space": {"runtime.threads": {"values": [1, 2]}}}, ["says how to run, not what"]),
    "fixed too": (
        {"fixed": {"model.heads": 2, "data.corpus": "synthetic-copy"}},
        ["model.heads is fixed too (sweeps/s.yaml:5)"],
    ),
    "never active": (
        {"space": {"model.position_clip": {"low": 1, "high": 8}}},
        ["model.position_clip means something only with model.position=shaw", "search model.position too"],
    ),
    "never active, through another": (
        {"fixed": {"model.architecture": "bag"}, "space": {"model.norm_epsilon": {"values": [1e-6]}}},
        ["model.norm_epsilon means something only with", "which no point of this space has"],
    ),
    "condition elsewhere": (
        {"space": {"model.heads": {"values": [2], "when": {"model.norm": "rms"}}}},
        ["'model.norm' is not searched here"],
    ),
    "condition that never holds": (
        {"space": {"model.norm": {"values": ["layer"]}, "model.heads": {"values": [2], "when": {"model.norm": "rms"}}}},
        ["model.norm is never 'rms' here"],
    ),
    "circle": (
        {
            "space": {
                "model.norm": {"values": ["rms"], "when": {"model.heads": 2}},
                "model.heads": {"values": [2], "when": {"model.norm": "rms"}},
            }
        },
        ["depends on itself"],
    ),
    "test set": ({"objectives": [{"metric": "bleu", "split": "test"}]}, ["development data alone", "got 'test'"]),
    "test scored": ({"fixed": {"evaluate.splits": ["valid", "test"]}}, ["scores the test set, and a search may not"]),
    "unknown metric": ({"objectives": [{"metric": "blue"}]}, ["unknown metric 'blue'", "did you mean 'bleu'"]),
    "wrong way": ({"objectives": [{"metric": "bleu", "better": "lower"}]}, ["of bleu the higher is better"]),
    "objective twice": ({"objectives": [{"metric": "nll"}, {"metric": "nll"}]}, ["'nll' is there twice"]),
    "pieces differ": (
        {"space": {"tokenizer.size": {"values": [50, 60]}}},
        ["nll is measured a piece", "tokenizer.size", "bpc or bleu"],
    ),
    "the future is seen": (
        {"space": {"model.causal": {"values": [True, False]}}},
        ["model.causal, which changes what that means"],
    ),
    "no end": ({"budget": None}, ["the sampler random has no end", "{trials: 40}"]),
    "empty budget": ({"budget": {"trials": 0}}, ["budget.trials", "greater than or equal to 1"]),
    "list without points": ({"sampler": {"kind": "list"}}, ["goes through 'points'"]),
    "points without list": ({"points": [{"model.heads": 2}]}, ["searches a 'space'", "no 'points'"]),
    "grid of an interval": ({"sampler": {"kind": "grid"}}, ["sweeps/s.yaml:8: a grid needs a list", "'values'"]),
    "option of another sampler": ({"sampler": {"kind": "random", "startup": 3}}, ["'startup' means nothing"]),
    "unknown sampler": ({"sampler": {"kind": "bayes"}}, ["sampler.kind", "'tpe'"]),
    "pruner and two objectives": (
        {"objectives": [{"metric": "nll"}, {"metric": "flops"}], "pruner": {"kind": "asha"}},
        ["a pruner compares one objective and there are 2"],
    ),
    "pruner of a cost": (
        {"objectives": [{"metric": "flops"}], "pruner": {"kind": "asha"}},
        ["validations, which tell nothing of flops"],
    ),
    "pruner over vocabularies": (
        {
            "objectives": [{"metric": "bpc"}],
            "pruner": {"kind": "asha"},
            "space": {"tokenizer.size": {"values": [50, 60]}},
        },
        ["a pruner compares the likelihood a piece", "tokenizer.size"],
    ),
    "option of no pruner": ({"pruner": {"kind": "none", "first": 3}}, ["prunes nothing"]),
    "name": ({"name": "t"}, ["name 't' differs from the file's name"]),
    "not a mapping": ({"sampler": "tpe"}, ["'sampler' is a mapping, such as {kind: tpe}"]),
    "extends": ({"extends": "t"}, ["unknown key 'extends'"]),
    "unknown fixed setting": ({"fixed": {"model.haeds": 2}}, ["unknown key 'model.haeds'", "model.heads"]),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_fault_is_refused_with_its_place_and_remedy(sweep: MakeSweep, fault: str) -> None:
    changes, said = REFUSED[fault]
    with pytest.raises(InputError) as caught:
        sweep(**changes)
    message = str(caught.value)
    assert "s.yaml" in message
    assert "\n" not in message
    for words in said:
        assert words in message, message


POINTS = [{"model.heads": 2, "model.d_k": 8}, {"model.heads": 4}]


def test_points_are_gone_through_as_they_stand(sweep: MakeSweep) -> None:
    plan = sweep(space=None, points=POINTS, sampler={"kind": "list"}, budget=None)
    assert list(plan.space.points()) == POINTS


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([{"model.heads": 2}, {"model.heads": 2}], "this point is there twice (first at sweeps/s.yaml:"),
        ([{"model.heads": 0}], "model.heads=0 is not possible"),
        ([{"model": {"heads": 2}}], "takes one value; write its dotted path"),
        ([{"data.corpus": "synthetic-sort"}], "data.corpus is fixed too"),
    ],
)
def test_a_wrong_point_is_refused(sweep: MakeSweep, points: list[Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        sweep(space=None, points=points, sampler={"kind": "list"}, objectives=[{"metric": "bleu"}])
    assert said in str(caught.value)


def test_a_sweep_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="unknown sweep 'dropot-smoothing'; did you mean 'dropout-smoothing'"):
        load_sweep("dropot-smoothing")
