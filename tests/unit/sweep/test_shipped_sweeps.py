"""Every sweep that is shipped loads, resolves and has its price; and says what it claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from ablatable.nn.count import parameter_count
from ablatable.study.sweep.load import Plan, load_sweep
from ablatable.study.sweep.plan import plan_sweep, to_json, to_text

SWEEPS = Path(__file__).parents[3] / "sweeps"
NAMES = sorted(path.stem for path in SWEEPS.glob("*.yaml"))


def plan(name: str) -> Plan:
    return load_sweep(SWEEPS / f"{name}.yaml")


def test_there_are_some() -> None:
    assert {"lr-warmup-post", "lr-warmup-pre", "dropout-smoothing", "heads-key-width", "size-budget"} <= set(NAMES)
    assert "tokenizer-size" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_sweep_resolves_and_plans(name: str) -> None:
    made = plan_sweep(plan(name))
    assert made.trials
    assert not made.impossible, "a shipped sweep has no point that cannot be"
    assert to_json(made)["flops"] > 0
    assert name in to_text(made)
    assert made.title
    assert plan(name).sweep.question
    assert plan(name).sweep.reading


def test_heads_and_key_width_change_no_weight() -> None:
    sweep = plan("heads-key-width")
    counts: dict[int, list[int]] = {}
    for point in sweep.space.points():
        model = sweep.ground.experiment(point).model
        assert model.heads * (model.key_size + model.value_size) == 2 * model.d_model
        counts.setdefault(model.heads * model.key_size, []).append(parameter_count(model, 2000, 2000))
    assert all(len(set(same)) == 1 for same in counts.values())
    every = [count for same in counts.values() for count in same]
    assert max(every) - min(every) <= 0.0015 * min(every)


def test_the_two_placements_are_searched_alike() -> None:
    post, pre = plan("lr-warmup-post"), plan("lr-warmup-pre")
    assert post.space.parameters == pre.space.parameters
    assert (post.sweep.sampler, post.sweep.budget, post.sweep.pruner) == (
        pre.sweep.sampler,
        pre.sweep.budget,
        pre.sweep.pruner,
    )
    assert post.ground.value("model.norm_placement") == "post"
    assert pre.ground.value("model.norm_placement") == "pre"


def test_sizes_keep_their_proportions() -> None:
    sweep = plan("size-budget")
    models = [sweep.ground.experiment(point).model for point in sweep.space.points()]
    assert {model.d_ff / model.d_model for model in models} == {4.0}
    assert {model.key_size for model in models} == {16}
