"""Every value of every axis of ``config.model``, read off the declarations: a new option is tested for free.

Each builds, trains a step, survives saving, has the parameters the closed form says, and changes exactly what
its axis declares. Replacing a choice by the baseline's behaviour leaves it without effect, which fails here.
"""

import io
from dataclasses import replace
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.axis import Axis, Effect
from ablatable.config.model import Model
from ablatable.config.tree import Leaf, activating, leaves
from ablatable.nn.build import build_model
from ablatable.nn.count import parameter_count
from ablatable.nn.transformer import Transformer

VOCABULARY = 30
BASE = Model(layers=1, d_model=64, d_ff=48, heads=8)
CONTEXTS = ({}, {"d_k": 12, "d_v": 12})
"""The base with its widths derived and with others: ``heads`` changes shapes only in the second, and only there is
1/d_k not 1/sqrt(d_model)."""
ROUNDING = 1e-7
"""Logits in float64 that are closer are the same; parameters are drawn in float32."""
CHECKED = {Effect.FORWARD, Effect.TRAIN_ONLY, Effect.INIT, Effect.PARAMS}


def _model_leaves() -> list[tuple[str, Leaf, Axis]]:
    named = ((path.removeprefix("model."), leaf) for path, leaf in leaves().items() if path.startswith("model."))
    return [(name, leaf, leaf.axis) for name, leaf in named if leaf.axis is not None]


def _baseline(leaf: Leaf, context: dict[str, object]) -> Model:
    """The base, with what the leaf needs to mean anything."""
    needed = activating(leaf.path)
    assert all(path.startswith("model.") for path in needed), "a need in another section needs a test here"
    needed = {path.removeprefix("model."): value for path, value in needed.items()}
    return replace(BASE, **context, **needed)


CHOICES = [(name, leaf, value) for name, leaf, axis in _model_leaves() for value in axis.values]
CHANGES = [choice for choice in CHOICES if choice[2] != getattr(_baseline(choice[1], {}), choice[0])]


def _each(choices: list[tuple[str, Leaf, object]]) -> pytest.MarkDecorator:
    named = [pytest.param(*choice, id=f"{choice[0]}={choice[2]}") for choice in choices]
    return pytest.mark.parametrize(("name", "leaf", "value"), named)


def _batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    source = torch.randint(4, VOCABULARY, (4, 14), generator=generator)  # position_distance matters from offset 11 on
    target = torch.randint(4, VOCABULARY, (4, 6), generator=generator)
    source[1, 5:] = 0
    target[2, 4:] = 0
    return source, target, target.roll(-1, 1)


def _build(model: Model, seed: int = 1) -> Transformer:
    return build_model(model, VOCABULARY, VOCABULARY, seed)


def _evaluated(model: Transformer) -> Tensor:
    source, target, _ = _batch()
    with torch.no_grad():
        return model.eval()(source, target)


def _trained_output(model: Transformer) -> Tensor:
    source, target, _ = _batch()
    torch.manual_seed(7)
    with torch.no_grad():
        return model.train()(source, target)


@_each(CHOICES)
def test_each_value_trains(name: str, leaf: Leaf, value: object) -> None:
    """Every parameter has a gradient within three updates: two shut gates may keep it from what lies behind them."""
    built = _build(replace(_baseline(leaf, {}), **{name: value})).train()
    optimiser = torch.optim.Adam(built.parameters(), lr=0.01)
    unlearned = {parameter_name for parameter_name, _ in built.named_parameters()}
    source, target, expected = _batch()
    for _ in range(3):
        optimiser.zero_grad()
        loss = F.cross_entropy(built(source, target).flatten(0, 1), expected.flatten(), ignore_index=0)
        loss.backward()
        assert torch.isfinite(loss)
        for parameter_name, parameter in built.named_parameters():
            assert parameter.grad is not None, f"{parameter_name} takes no part in the model"
            assert torch.isfinite(parameter.grad).all(), parameter_name
            if parameter.grad.abs().max() > 1e-7:
                unlearned.discard(parameter_name)
        if not unlearned:
            return
        optimiser.step()
    raise AssertionError(f"{sorted(unlearned)} do not learn")


@_each(CHOICES)
def test_each_value_survives_saving_and_counts_right(name: str, leaf: Leaf, value: object) -> None:
    model = replace(_baseline(leaf, {}), **{name: value})
    saved, loaded = _build(model, seed=1), _build(model, seed=2)
    _trained_output(saved)  # so that what training leaves beside the parameters is not as it was built
    file = io.BytesIO()
    torch.save(saved.state_dict(), file)
    file.seek(0)
    loaded.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(_evaluated(saved), _evaluated(loaded))
    counted = sum(parameter.numel() for parameter in saved.parameters())
    assert counted == parameter_count(model, VOCABULARY, VOCABULARY)


def _roles(model: Transformer) -> dict[str, nn.Parameter]:
    """Parameters by what they do: tied or not, there is a source (where it is read), a target and an output matrix."""
    matrices = {"target matrix": model.target_input.embedding.weight, "output matrix": model.output_weight}
    if model.source_input is not None:
        matrices["source matrix"] = model.source_input.embedding.weight
    shared = set(matrices.values())
    return matrices | {name: p for name, p in model.named_parameters() if p not in shared}


@torch.no_grad()
def _give_parameters(giver: Transformer, taker: Transformer) -> None:
    """Copy every parameter of the same role and shape (a convolution of size 1 has that of its matrix), and the rows
    both have of a table of positions. What is one matrix to the taker becomes equal in the giver too."""
    given, taken = _roles(giver), _roles(taker)
    for role, parameter in taken.items():
        first = next(other for other in taken if taken[other] is parameter)
        if role in given and first in given:
            given[role].copy_(given[first])
    for role, parameter in taken.items():
        if role in given and given[role].squeeze(-1).shape == parameter.squeeze(-1).shape:
            parameter.copy_(given[role].view_as(parameter))
        elif role in given and role.endswith("positions.weight"):
            rows = min(len(given[role]), len(parameter))
            parameter[:rows] = given[role][:rows]


def _shapes(model: Transformer) -> dict[str, torch.Size]:
    return {name: parameter.shape for name, parameter in model.named_parameters()}


def _apart(first: Tensor, second: Tensor) -> bool:
    return not torch.allclose(first, second, rtol=0, atol=ROUNDING)


@cache
def _observed(before: Model, after: Model) -> frozenset[Effect]:
    first, second = _build(before), _build(after)
    found = set()
    if _shapes(first) != _shapes(second):
        found.add(Effect.PARAMS)
    initial = _roles(first)
    if any(
        role in initial and initial[role].shape == p.shape and not torch.equal(initial[role], p)
        for role, p in _roles(second).items()
    ):
        found.add(Effect.INIT)
    _give_parameters(first, second)
    first, second = first.double(), second.double()
    if _apart(_evaluated(first), _evaluated(second)):
        found.add(Effect.FORWARD)
    elif _apart(_trained_output(first), _trained_output(second)):
        found.add(Effect.TRAIN_ONLY)
    return frozenset(found)


def _observed_anywhere(name: str, leaf: Leaf, value: object) -> frozenset[Effect]:
    found: frozenset[Effect] = frozenset()
    for context in CONTEXTS:
        before = _baseline(leaf, {k: v for k, v in context.items() if k != name})
        found |= _observed(before, replace(before, **{name: value}))
    return found


@_each(CHANGES)
def test_each_value_changes_only_what_its_axis_declares(name: str, leaf: Leaf, value: object) -> None:
    observed = _observed_anywhere(name, leaf, value)
    assert leaf.axis is not None
    assert observed, f"model.{name}={value} does nothing"
    assert observed <= leaf.axis.changes


@pytest.mark.parametrize("axis", _model_leaves(), ids=lambda axis: axis[0])
def test_each_axis_changes_all_it_declares(axis: tuple[str, Leaf, Axis]) -> None:
    name, leaf, declared = axis
    assert declared.changes <= CHECKED, "this test does not know how to look for that effect"
    observed = {effect for value in declared.values for effect in _observed_anywhere(name, leaf, value)}
    assert observed == declared.changes


def test_a_model_shows_no_effect_against_itself() -> None:
    """Otherwise the effects above would prove nothing."""
    assert not _observed(BASE, replace(BASE))


def test_every_field_of_the_model_is_an_axis() -> None:
    fields = {path for path in leaves() if path.startswith("model.")}
    assert fields == {f"model.{name}" for name, _, _ in _model_leaves()}
