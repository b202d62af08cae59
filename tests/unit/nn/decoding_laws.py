"""What decoding step by step must do whatever the architecture, and the models to see it on."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork


def disturbed(config: Model) -> AnyNetwork:
    """A model in evaluation whose parameters are off their initial values, so that none is without effect."""
    model = build_model(config, 20, 20, seed=1).eval()
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i)), alpha=0.1)
    return model


def random_tokens(*shape: int, seed: int = 0) -> Tensor:
    """Pieces that are neither special nor outside the vocabulary of 20."""
    return torch.randint(4, 20, shape, generator=torch.Generator().manual_seed(seed))


def steps_equal_the_full_pass(model: AnyNetwork, source: Tensor, length: int) -> None:
    """Each cached step gives the hidden states, and the logits, of the full pass."""
    memory = model.encode(source)
    target = random_tokens(len(source), length)
    full = model.decode(target, memory)
    state = model.start(memory, max_length=length)
    for position in range(length):
        assert state.position == position
        hidden = model.step(target[:, position : position + 1], state)
        torch.testing.assert_close(hidden[:, 0], full[:, position], atol=1e-5, rtol=0)
        logits = model.logits(full[:, position : position + 1])  # each adds up the differences of all channels
        torch.testing.assert_close(model.logits(hidden), logits, atol=5e-5, rtol=0)


def beams_follow_their_parents(model: AnyNetwork, source: Tensor, steps: int) -> None:
    """Random parents each step; every beam must equal the full pass over its own history."""
    memory = model.encode(source)
    state = model.start(memory, max_length=steps + 2)
    generator = torch.Generator().manual_seed(2)
    history = random_tokens(3, 1, 1)
    model.step(history[:, :, 0], state)
    state.widen(4)
    history = history.expand(3, 4, 1)
    for _ in range(steps):
        tokens = torch.randint(4, 20, (3, 4), generator=generator)
        history = torch.cat((history, tokens[..., None]), dim=-1)
        hidden = model.step(tokens, state)
        for beam in range(4):
            expected = model.decode(history[:, beam], memory)[:, -1]
            torch.testing.assert_close(hidden[:, beam], expected, atol=1e-5, rtol=0)
        parents = torch.randint(0, 4, (3, 4), generator=generator)
        state.reorder(parents)
        history = history.gather(1, parents[..., None].expand_as(history))


def sentences_leave_and_beams_change_in_number(model: AnyNetwork, source: Tensor) -> None:
    """Two of three sentences go on, with three beams in place of two: each equals the full pass over its history."""
    memory = model.encode(source)
    state = model.start(memory, max_length=5)
    first, second, third = random_tokens(3, 1), random_tokens(3, 2, seed=1), random_tokens(2, 3, seed=2)
    model.step(first, state)
    state.widen(2)
    model.step(second, state)
    chosen = torch.tensor([2, 0])
    state.select(chosen)
    assert (state.sentences, state.beams) == (2, 2)
    parents = torch.tensor([[1, 0, 0], [1, 1, 0]])
    state.reorder(parents)
    assert state.beams == 3
    hidden = model.step(third, state)
    kept = model.encode(source[chosen])
    for beam in range(3):
        rows = torch.stack((first[chosen, 0], second[chosen].gather(1, parents)[:, beam], third[:, beam]), dim=1)
        torch.testing.assert_close(hidden[:, beam], model.decode(rows, kept)[:, -1], atol=1e-5, rtol=0)


def misuse_is_refused(model: AnyNetwork, source: Tensor) -> None:
    """Tokens of another shape, a step too many, beams widened twice."""
    state = model.start(model.encode(source), max_length=1)
    with pytest.raises(ValueError, match="tokens"):
        model.step(torch.tensor([[4, 4]]), state)
    model.step(torch.tensor([[4], [4], [4]]), state)
    with pytest.raises(ValueError, match="all 1 positions"):
        model.step(torch.tensor([[4], [4], [4]]), state)
    state.widen(2)
    with pytest.raises(ValueError, match="one beam"):
        state.widen(2)
