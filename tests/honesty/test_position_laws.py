"""What each kind of position must be blind to, and what it must see, in a whole model.

Positions are shifted by padding on the left: the text is the same and stands ``SHIFT`` places further on.
"""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.masks import padding
from ablatable.nn.relative import KINDS
from ablatable.nn.transformer import Memory, Transformer

SMALL = Model(layers=2, d_model=16, d_ff=24, heads=2, position_clip=2, position_buckets=8, position_distance=6)
SOURCE = torch.tensor([[5, 6, 7, 8, 9, 10, 6], [11, 12, 13, 14, 5, 0, 0]])
TARGET = torch.tensor([[4, 8, 9, 15, 16], [4, 17, 18, 0, 0]])
SHIFT = 3

ABSOLUTE = [
    {"position": "sinusoidal"},
    {"position": "sinusoidal", "position_layout": "halves"},
    {"position": "sinusoidal", "position_combine": "concatenate"},
    {"position": "learned"},
    {"position": "learned", "position_combine": "concatenate"},
    {"position": "index"},
    {"position": "index", "position_combine": "concatenate"},
]
RELATIVE = [
    {"position": "rope"},
    {"position": "rope", "position_layout": "halves"},
    {"position": "alibi"},
    {"position": "alibi", "position_slopes": "learned"},
    {"position": "shaw"},
    {"position": "t5"},
]
NONE = {"position": "none"}


def _each(kinds: list[dict[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("changes", kinds, ids=lambda changes: "-".join(changes.values()))


def _built(changes: dict[str, str]) -> Transformer:
    model = build_model(replace(SMALL, **changes), 20, 20, seed=1).eval().double()
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.2)
    return model


def _shifted(ids: Tensor) -> Tensor:
    return torch.nn.functional.pad(ids, (SHIFT, 0))


def _far(first: Tensor, second: Tensor) -> bool:
    return bool((first - second).abs().max() > 1e-3)


def test_the_laws_are_asked_of_every_kind() -> None:
    assert {changes["position"] for changes in RELATIVE} == set(KINDS)


@_each([NONE])
@torch.no_grad()
def test_without_positions_the_encoder_follows_a_permutation(changes: dict[str, str]) -> None:
    model = _built(changes)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    states = model.encode(SOURCE[:, order]).states
    real = SOURCE[:, order] != 0
    torch.testing.assert_close(states[real], model.encode(SOURCE).states[:, order][real], atol=1e-10, rtol=0)


@_each(ABSOLUTE + RELATIVE)
@torch.no_grad()
def test_with_positions_the_encoder_sees_the_order(changes: dict[str, str]) -> None:
    model = _built(changes)
    order = torch.tensor([3, 0, 2, 1, 4, 5, 6])
    states = model.encode(SOURCE[:, order]).states
    assert _far(states, model.encode(SOURCE).states[:, order])


@_each([NONE, *RELATIVE])
@torch.no_grad()
def test_only_offsets_matter(changes: dict[str, str]) -> None:
    model = _built(changes)
    memory, shifted = model.encode(SOURCE), model.encode(_shifted(SOURCE))
    real = SOURCE != 0
    torch.testing.assert_close(shifted.states[:, SHIFT:][real], memory.states[real], atol=1e-10, rtol=0)
    hidden, moved = model.decode(TARGET, memory), model.decode(_shifted(TARGET), shifted)
    real = TARGET != 0
    torch.testing.assert_close(moved[:, SHIFT:][real], hidden[real], atol=1e-10, rtol=0)


@_each(ABSOLUTE)
@torch.no_grad()
def test_where_the_text_stands_matters_to_absolute_positions(changes: dict[str, str]) -> None:
    model = _built(changes)
    memory = model.encode(SOURCE)
    assert _far(model.encode(_shifted(SOURCE)).states[:, SHIFT:], memory.states)
    assert _far(model.decode(_shifted(TARGET), memory)[:, SHIFT:], model.decode(TARGET, memory))


@_each([NONE, *RELATIVE])
@torch.no_grad()
def test_pos_08_cross_attention_knows_no_positions(changes: dict[str, str]) -> None:
    """Target length 5, source length 7: moving the target, or reordering what the encoder gave, changes nothing."""
    model = _built(changes)
    memory = model.encode(SOURCE)
    hidden = model.decode(TARGET, memory)
    assert hidden.shape == (2, 5, 16)
    real = TARGET != 0
    torch.testing.assert_close(
        model.decode(_shifted(TARGET), memory)[:, SHIFT:][real], hidden[real], atol=1e-10, rtol=0
    )
    order = torch.tensor([6, 2, 0, 4, 1, 5, 3])
    keep = memory.keep[:, order]
    mixed = Memory(memory.states[:, order], keep, padding(keep))
    torch.testing.assert_close(model.decode(TARGET, mixed)[real], hidden[real], atol=1e-10, rtol=0)


@_each([NONE, *RELATIVE])
@torch.no_grad()
def test_causality_holds_with_every_kind(changes: dict[str, str]) -> None:
    """A changed future token leaves the past bitwise equal."""
    model = _built(changes)
    memory = model.encode(SOURCE)
    other = TARGET.clone()
    other[:, 3:] = torch.tensor([[10, 11], [12, 13]])
    assert torch.equal(model.decode(other, memory)[:, :3], model.decode(TARGET, memory)[:, :3])
