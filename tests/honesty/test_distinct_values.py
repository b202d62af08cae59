"""The values of an axis differ from each other, not only from the default, with all parameters shared that can be.

Two names for one thing are allowed only as a law, and the law is then tested.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
import torch
from run_effects import observed as observed_in_runs
from test_model_axes import CONTEXTS, _baseline, _build, _evaluated, _give_parameters, _observed
from tiny_space import beside, contexts, experiment, tried

from ablatable.config.axis import Effect
from ablatable.config.tree import leaves, values_of

ALIKE = {
    ("model.ffn", "relu", "conv1x1"): "section 3.3: another way of describing the same function",
    ("model.score_scale", "1/sqrt(d_k)", "learned"): "the trained factor starts there",
}
"""Pairs whose evaluation is equal for the same parameters, though their axis declares that values change it."""


def _pairs(in_model: bool) -> list[Any]:
    named = [path for path, leaf in leaves().items() if leaf.axis and path.startswith("model.") == in_model]
    return [
        pytest.param(path, *two, id=f"{path}={two[0]}|{two[1]}")
        for path in named
        for two in combinations(dict.fromkeys(values_of(path) if in_model else tried(path)), 2)
    ]


def _told_apart(path: str, first: Any, second: Any, found: frozenset[Effect]) -> None:
    axis = leaves()[path].axis
    assert axis is not None
    assert found, f"{first} and {second} are two names for one thing"
    assert found <= axis.changes
    if Effect.FORWARD in axis.changes:
        assert (Effect.FORWARD in found) == ((path, first, second) not in ALIKE)


@pytest.mark.parametrize(("path", "first", "second"), _pairs(in_model=True))
def test_values_of_the_model_differ_from_each_other(path: str, first: Any, second: Any) -> None:
    leaf, name = leaves()[path], path.removeprefix("model.")
    bases = [_baseline(leaf, {k: v for k, v in context.items() if k != name}) for context in CONTEXTS]
    found = (_observed(replace(base, **{name: first}), replace(base, **{name: second})) for base in bases)
    _told_apart(path, first, second, frozenset().union(*found))


@pytest.mark.parametrize(("path", "first", "second"), _pairs(in_model=False))
def test_values_outside_the_model_differ_from_each_other(path: str, first: Any, second: Any) -> None:
    found: set[Effect] = set()
    for context in contexts(path):
        around = beside(path, first, context) | beside(path, second, context)
        found |= observed_in_runs(experiment(around, {path: first}), experiment(around, {path: second}))
    _told_apart(path, first, second, frozenset(found))


@pytest.mark.parametrize(("path", "first", "second"), ALIKE)
def test_values_that_are_alike_are_so_to_rounding(path: str, first: Any, second: Any) -> None:
    name = path.removeprefix("model.")
    base = _baseline(leaves()[path], {})
    one, other = _build(replace(base, **{name: first})), _build(replace(base, **{name: second}), seed=2)
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(0.1)
    _give_parameters(one, other)
    torch.testing.assert_close(_evaluated(one), _evaluated(other), atol=1e-5, rtol=0)
