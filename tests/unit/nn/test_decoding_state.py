"""The decoder's state: a cached step equals the full forward, whatever is reordered, dropped or widened."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.build import build_model
from ablatable.nn.transformer import Transformer

SMALL = Model(layers=2, d_model=16, d_ff=24, heads=2)
SOURCE = torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0], [11, 12, 13, 0]])


def _model(**changes: object) -> Transformer:
    model = build_model(replace(SMALL, **changes), 20, 20, seed=1).eval()
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i)), alpha=0.1)
    return model


def _tokens(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(4, 20, shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"position_layout": "halves"},
        {"position": "learned"},
        {"position": "none"},
        {"d_k": 3, "d_v": 5},
        {"heads": 1, "attention_bias": False},
        {"tying": "none", "target_language_table": True},
    ],
    ids=str,
)
@torch.no_grad()
def test_pos_15_a_cached_step_equals_the_full_forward(changes: dict[str, object]) -> None:
    model = _model(**changes)
    memory = model.encode(SOURCE)
    target = _tokens(3, 6)
    full = model.decode(target, memory)
    state = model.start(memory, max_length=6)
    for position in range(6):
        assert state.position == position
        hidden = model.step(target[:, position : position + 1], state)
        torch.testing.assert_close(hidden[:, 0], full[:, position], atol=1e-5, rtol=0)
        torch.testing.assert_close(
            model.logits(hidden), model.logits(full[:, position : position + 1]), atol=1e-5, rtol=0
        )


@torch.no_grad()
def test_the_cache_grows_past_its_first_capacity() -> None:
    model = _model()
    memory = model.encode(SOURCE)
    target = _tokens(3, 70)
    full = model.decode(target, memory)
    state = model.start(memory, max_length=70)
    for position in range(70):
        hidden = model.step(target[:, position : position + 1], state)
        torch.testing.assert_close(hidden[:, 0], full[:, position], atol=1e-5, rtol=0)


@torch.no_grad()
def test_dec_05_beams_follow_their_parents_in_every_layer() -> None:
    """Random parents each step; every beam must equal the full pass over its own history."""
    model = _model()
    memory = model.encode(SOURCE)
    state = model.start(memory, max_length=40)
    generator = torch.Generator().manual_seed(2)
    history = _tokens(3, 1, 1)
    model.step(history[:, :, 0], state)
    state.widen(4)
    history = history.expand(3, 4, 1)
    for _ in range(38):
        tokens = torch.randint(4, 20, (3, 4), generator=generator)
        history = torch.cat((history, tokens[..., None]), dim=-1)
        hidden = model.step(tokens, state)
        for beam in range(4):
            expected = model.decode(history[:, beam], memory)[:, -1]
            torch.testing.assert_close(hidden[:, beam], expected, atol=1e-5, rtol=0)
        parents = torch.randint(0, 4, (3, 4), generator=generator)
        state.reorder(parents)
        history = history.gather(1, parents[..., None].expand_as(history))


@torch.no_grad()
def test_dec_05_parents_1_1_0() -> None:
    model = _model()
    state = model.start(model.encode(SOURCE[:1]), max_length=4)
    state.widen(3)
    model.step(torch.tensor([[5, 6, 7]]), state)
    before = [layer.history.keys.clone() for layer in state.layers if layer.history.keys is not None]
    memory = [layer.memory[0].clone() for layer in state.layers]
    state.reorder(torch.tensor([[1, 1, 0]]))
    for layer, old, cross in zip(state.layers, before, memory, strict=True):
        assert layer.history.keys is not None
        assert torch.equal(layer.history.keys[:, :, :1], old[[1, 1, 0], :, :1])
        assert torch.equal(layer.memory[0], cross)
        assert layer.memory[0].shape[0] == 1  # once per sentence, not per beam


@torch.no_grad()
def test_sentences_can_leave_and_beams_can_change_in_number() -> None:
    model = _model()
    memory = model.encode(SOURCE)
    state = model.start(memory, max_length=5)
    first = _tokens(3, 1)
    model.step(first, state)
    state.widen(2)
    second = _tokens(3, 2, seed=1)
    model.step(second, state)
    chosen = torch.tensor([2, 0])
    state.select(chosen)
    assert (state.sentences, state.beams) == (2, 2)
    state.reorder(torch.tensor([[1, 0, 0], [1, 1, 0]]))
    assert state.beams == 3
    third = _tokens(2, 3, seed=2)
    hidden = model.step(third, state)
    parents = [[1, 0, 0], [1, 1, 0]]
    kept = model.encode(SOURCE[chosen])
    for beam in range(3):
        rows = [
            [int(first[s, 0]), int(second[s, parents[row][beam]]), int(third[row, beam])]
            for row, s in enumerate(chosen.tolist())
        ]
        expected = model.decode(torch.tensor(rows), kept)[:, -1]
        torch.testing.assert_close(hidden[:, beam], expected, atol=1e-5, rtol=0)


@torch.no_grad()
def test_misuse_is_an_error() -> None:
    model = _model()
    state = model.start(model.encode(SOURCE), max_length=1)
    with pytest.raises(ValueError, match="tokens"):
        model.step(torch.tensor([[4, 4]]), state)
    model.step(torch.tensor([[4], [4], [4]]), state)
    with pytest.raises(ValueError, match="all 1 positions"):
        model.step(torch.tensor([[4], [4], [4]]), state)
    state.widen(2)
    with pytest.raises(ValueError, match="one beam"):
        state.widen(2)


@torch.no_grad()
def test_learned_positions_bound_the_length_of_a_translation() -> None:
    model = _model(position="learned", position_max=5)
    state = model.start(model.encode(SOURCE), max_length=50)
    assert state.max_length == 5
    with pytest.raises(InputError, match=r"model\.position_max=5"):
        model.decode(_tokens(3, 6), model.encode(SOURCE))
