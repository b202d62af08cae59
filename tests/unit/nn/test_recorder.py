"""What is recorded of attention is what the network computed with, and recording changes nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from ablatable.config.model import Model
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.recorder import KINDS, recording

TINY = Model(layers=2, d_model=16, d_ff=16, heads=2)
SOURCE = torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0], [0, 0, 0, 0]])
TARGET = torch.tensor([[2, 9, 4, 7, 6], [2, 5, 0, 0, 0], [2, 4, 4, 0, 0]])
"""Padding on both sides, and a source of nothing but padding."""

VARIANTS = {
    "base": {},
    "rope": {"position": "rope"},
    "alibi": {"position": "alibi"},
    "t5": {"position": "t5"},
    "shaw": {"position": "shaw", "position_clip": 2},
    "additive": {"score": "additive"},
    "cosine": {"score": "cosine"},
    "unscaled": {"score_scale": "none"},
    "window": {"window": 3},
    "future": {"causal": False},
    "widths": {"d_k": 4, "d_v": 6},
}


def _network(changes=None, seed: int = 3):
    model = replace(TINY, **(changes or {}))
    return build_model(model, 12, 12, seed).eval()


def _pass(network):
    return network.decode(TARGET, network.encode(SOURCE))


@pytest.mark.parametrize("name", VARIANTS)
def test_recorded_weights_give_the_context_the_network_went_on_with(name: str) -> None:
    network = _network(VARIANTS[name])
    with torch.no_grad(), recording(network) as seen:
        _pass(network)
    assert [(one.kind, one.layer) for one in seen] == [
        *(("encoder-self", layer) for layer in (1, 2)),
        *((kind, layer) for layer in (1, 2) for kind in ("decoder-self", "cross")),
    ]
    for one in seen:
        weights = one.weights()
        context = (weights @ one.v.transpose(1, 2)).transpose(1, 2)
        added = None if one.relative is None else one.relative.context_bias(weights, one.offset)
        torch.testing.assert_close(context if added is None else context + added, one.context, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_rows_sum_to_one_over_the_keys_that_are_seen_and_are_zero_elsewhere(name: str) -> None:
    network = _network(VARIANTS[name])
    with torch.no_grad(), recording(network) as seen:
        _pass(network)
    for one in seen:
        weights, visible = one.weights(), one.visible()[:, None].expand(-1, one.q.shape[2], -1, -1)
        assert not weights[~visible].any()
        sums = visible.any(-1).to(weights.dtype)
        torch.testing.assert_close(weights.sum(-1), sums, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_visible_keys_are_written_out(kind: str) -> None:
    network = _network()
    with torch.no_grad(), recording(network) as seen:
        _pass(network)
    one = next(one for one in seen if one.kind == kind)
    keys = TARGET if kind == "decoder-self" else SOURCE
    for b in range(3):
        for t in range(one.q.shape[1]):
            for s in range(keys.shape[1]):
                expected = keys[b, s] != 0 and (kind != "decoder-self" or s <= t)
                assert bool(one.visible()[b, t, s]) == bool(expected)


def test_weights_are_the_formula_of_the_layers_own_projections() -> None:
    """softmax(q k / sqrt(d_k)) of the first encoder layer, one number at a time."""
    network = _network()
    attention = network.encoder.layers[0].self_attention
    with torch.no_grad(), recording(network) as seen:
        network.encode(SOURCE)
        x = network.source_input(SOURCE)[0]
        projected = x @ attention.qkv.weight.T + attention.qkv.bias
    weights = seen[0].weights()[0]
    width = TINY.key_size
    for h in range(TINY.heads):
        q = projected[:, h * width : (h + 1) * width]
        k = projected[:, (TINY.heads + h) * width : (TINY.heads + h + 1) * width]
        for t in range(4):
            powers = [math.exp(float(q[t] @ k[s]) / math.sqrt(width)) for s in range(4)]
            for s in range(4):
                assert float(weights[h, t, s]) == pytest.approx(powers[s] / sum(powers), abs=1e-6)


def test_another_core_gives_the_weights_of_its_own_scale() -> None:
    from ablatable.nn.scores import ProductScore

    network = _network()
    with torch.no_grad(), recording(network) as seen:
        _pass(network)
    same, sharper = (AttentionCore(ProductScore(scale)) for scale in (TINY.key_size**-0.5, 10.0))
    torch.testing.assert_close(seen[0].weights(same), seen[0].weights())
    assert (seen[0].weights(sharper).amax(-1) >= seen[0].weights().amax(-1) - 1e-6).all()
    assert not torch.allclose(seen[0].weights(sharper), seen[0].weights(), atol=0.01)


@pytest.mark.parametrize("name", ["base", "shaw", "additive"])
def test_mask_01_recording_changes_neither_outputs_nor_gradients_and_leaves_nothing_behind(name: str) -> None:
    """Bit for bit, in training mode too."""

    def trained(record: bool):
        network = _network(VARIANTS[name]).train()
        torch.manual_seed(0)
        if record:
            with recording(network) as seen:
                hidden = _pass(network)
            assert len(seen) == 6
        else:
            hidden = _pass(network)
        hidden[:2].square().sum().backward()
        return hidden, [parameter.grad for parameter in network.parameters()], network

    plain, plain_grads, _ = trained(record=False)
    recorded, recorded_grads, network = trained(record=True)
    assert torch.equal(plain, recorded)
    for a, b in zip(plain_grads, recorded_grads, strict=True):
        assert (a is None and b is None) or torch.equal(a, b)
    assert not any(module._forward_hooks for module in network.modules())


def test_hooks_come_off_when_the_network_fails() -> None:
    network = _network({"position": "learned", "position_max": 4})
    with pytest.raises(Exception, match="position_max"), recording(network):
        _pass(network)
    assert not any(module._forward_hooks for module in network.modules())


def test_reading_the_whole_target_shows_the_weights_of_decoding_piece_by_piece() -> None:
    network = _network({"position": "rope"})
    source, target = SOURCE[:1], TARGET[:1]
    with torch.no_grad():
        memory = network.encode(source)
        with recording(network) as whole:
            network.decode(target, memory)
        state = network.start(memory, 10)
        for t in range(target.shape[1]):
            with recording(network) as step:
                network.step(target[:, t : t + 1], state)
            assert len(step) == len(whole) == 4
            for one, full in zip(step, whole, strict=True):
                row = one.weights()[0, :, 0]
                torch.testing.assert_close(row, full.weights()[0, :, t, : row.shape[-1]], atol=1e-6, rtol=0)


def test_networks_without_cores_have_nothing_to_record() -> None:
    network = build_model(Model(architecture="rnn", layers=1, d_model=8, rival_width=8), 12, 12, 1).eval()
    with torch.no_grad(), recording(network) as seen:
        network.decode(TARGET, network.encode(SOURCE))
    assert seen == []
