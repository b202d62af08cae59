"""The decoder's state: a cached step equals the full forward, whatever is reordered, dropped or widened."""

from dataclasses import replace

import pytest
import torch
from decoding_laws import (
    beams_follow_their_parents,
    disturbed,
    misuse_is_refused,
    random_tokens,
    sentences_leave_and_beams_change_in_number,
    steps_equal_the_full_pass,
)

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.transformer import Transformer

SMALL = Model(layers=2, d_model=16, d_ff=24, heads=2)
SOURCE = torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0], [11, 12, 13, 0]])


def _model(**changes: object) -> Transformer:
    model = disturbed(replace(SMALL, **changes))
    assert isinstance(model, Transformer)
    return model


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
    steps_equal_the_full_pass(_model(**changes), SOURCE, 6)


@torch.no_grad()
def test_the_cache_grows_past_its_first_capacity() -> None:
    steps_equal_the_full_pass(_model(), SOURCE, 70)


@torch.no_grad()
def test_dec_05_beams_follow_their_parents_in_every_layer() -> None:
    beams_follow_their_parents(_model(), SOURCE, 38)


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
    sentences_leave_and_beams_change_in_number(_model(), SOURCE)


@torch.no_grad()
def test_misuse_is_an_error() -> None:
    misuse_is_refused(_model(), SOURCE)


@torch.no_grad()
def test_learned_positions_bound_the_length_of_a_translation() -> None:
    model = _model(position="learned", position_max=5)
    state = model.start(model.encode(SOURCE), max_length=50)
    assert state.max_length == 5
    with pytest.raises(InputError, match=r"model\.position_max=5"):
        model.decode(random_tokens(3, 6), model.encode(SOURCE))
