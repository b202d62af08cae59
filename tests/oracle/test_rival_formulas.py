"""The rivals against PyTorch's own cells and against loops written from the formulas, in float64."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.config.model import Model
from ablatable.nn.bag import BagNetwork
from ablatable.nn.build import build_model
from ablatable.nn.convolutional import ConvolutionalNetwork, GatedConvolution
from ablatable.nn.lookup import soft_lookup
from ablatable.nn.recurrent import AdditiveAttention, BidirectionalLayer, RecurrentNetwork, mirrored

LENGTHS = [5, 2, 3]
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 3, 0, 0, 0], [11, 12, 3, 0, 0]])
TARGET = torch.tensor([[2, 6, 7, 8], [2, 9, 10, 0], [2, 13, 14, 15]])


def _network(seed: int = 1, **changes: object) -> nn.Module:
    model = build_model(Model(d_model=12, rival_width=10, tying="none", **changes), 20, 20, seed).double().eval()
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            noise = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i), dtype=torch.float64)
            parameter.add_(noise, alpha=0.2)
    return model


def _embedded(network: nn.Module, ids: Tensor, side: str) -> Tensor:
    return network.get_parameter(f"{side}_input.embedding.weight")[ids] * math.sqrt(12)


def _random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_the_bidirectional_layer_is_pytorch_s_on_packed_text(cell: str) -> None:
    network = _network(architecture="rnn", layers=1, rnn_cell=cell)
    ours = network.get_submodule("encoder.layers.0")
    assert isinstance(ours, BidirectionalLayer)
    theirs = {"lstm": nn.LSTM, "gru": nn.GRU}[cell](12, 5, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for name, parameter in ours.left_to_right.named_parameters():
            theirs.get_parameter(name).copy_(parameter)
        for name, parameter in ours.right_to_left.named_parameters():
            theirs.get_parameter(f"{name}_reverse").copy_(parameter)
    x = _random(3, 5, 12)
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
    expected, last = theirs(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
    found, final = ours(x, *mirrored(SOURCE != 0))
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(found[row, :length], expected[row, :length], atol=1e-12, rtol=0)
    hidden = last[0] if cell == "lstm" else last
    torch.testing.assert_close(final, torch.cat((hidden[0], hidden[1]), -1), atol=1e-12, rtol=0)


def test_mirrors_by_hand() -> None:
    mirror, last = mirrored(SOURCE != 0)
    assert mirror.tolist() == [[4, 3, 2, 1, 0], [1, 0, 2, 3, 4], [2, 1, 0, 3, 4]]
    assert last.tolist() == [4, 1, 2]


def _lstm_step(cell: nn.Module, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    hidden, memory = state
    p = dict(cell.named_parameters())
    gates = p["weight_ih_l0"] @ x + p["bias_ih_l0"] + p["weight_hh_l0"] @ hidden + p["bias_hh_l0"]
    i, f, g, o = gates.chunk(4)
    memory = torch.sigmoid(f) * memory + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(memory), memory


def _gru_step(cell: nn.Module, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    (hidden,) = state
    p = dict(cell.named_parameters())
    r_x, z_x, n_x = (p["weight_ih_l0"] @ x + p["bias_ih_l0"]).chunk(3)
    r_h, z_h, n_h = (p["weight_hh_l0"] @ hidden + p["bias_hh_l0"]).chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return ((1 - z) * torch.tanh(n_x + r * n_h) + z * hidden,)


STEPS = {"lstm": _lstm_step, "gru": _gru_step}
PARTS = {"lstm": 2, "gru": 1}


def _stack(network: nn.Module, cell: str, row: int) -> tuple[list[Tensor], list[Tensor]]:
    """Encoder states of one sentence, and each layer's last outputs, a step at a time."""
    step, zero = STEPS[cell], torch.zeros(5, dtype=torch.float64)
    xs = list(_embedded(network, SOURCE[row, : LENGTHS[row]], "source"))
    finals = []
    for depth, layer in enumerate(network.get_submodule("encoder.layers")):
        onward, backward = [], []
        state = (zero,) * PARTS[cell]
        for x in xs:
            state = step(layer.left_to_right, x, state)
            onward.append(state[0])
        state = (zero,) * PARTS[cell]
        for x in reversed(xs):
            state = step(layer.right_to_left, x, state)
            backward.insert(0, state[0])
        finals.append(torch.cat((onward[-1], backward[0])))
        outs = [torch.cat(pair) for pair in zip(onward, backward, strict=True)]
        xs = [x + out if depth else out for x, out in zip(xs, outs, strict=True)]
    return xs, finals


def _additive(attention: AdditiveAttention, query: Tensor, states: list[Tensor]) -> Tensor:
    scores = []
    for state in states:
        energy = torch.tanh(attention.query.weight @ query + attention.key.weight @ state)
        scores.append(float(attention.score.weight[0] @ energy))
    total = sum(math.exp(score) for score in scores)
    return sum(math.exp(score) / total * state for score, state in zip(scores, states, strict=True))


@pytest.mark.parametrize("attention", ["additive", "none"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
@torch.no_grad()
def test_the_recurrent_network_is_a_loop_over_time(cell: str, attention: str) -> None:
    network = _network(architecture="rnn", layers=3, rnn_cell=cell, rnn_attention=attention)
    assert isinstance(network, RecurrentNetwork)
    found = network.decode(TARGET, network.encode(SOURCE))
    for row in range(3):
        states, finals = _stack(network, cell, row)
        cells_states = [
            torch.tanh(bridge.weight @ final + bridge.bias).chunk(PARTS[cell])
            for bridge, final in zip(network.bridges, finals, strict=True)
        ]
        for position, x in enumerate(_embedded(network, TARGET[row, : int((TARGET[row] != 0).sum())], "target")):
            context: list[Tensor] = []
            for depth, one in enumerate(network.decoder.cells):
                read = torch.cat((x, *context))
                cells_states[depth] = STEPS[cell](one, read, cells_states[depth])
                x = x + cells_states[depth][0] if depth else cells_states[depth][0]
                if depth == 0 and attention == "additive":
                    context = [_additive(network.attention, x, states)]
            expected = network.decoder.output.weight @ torch.cat((x, *context)) + network.decoder.output.bias
            torch.testing.assert_close(found[row, position], expected, atol=1e-10, rtol=0)


@torch.no_grad()
def test_arch_12_additive_attention_is_not_scaled() -> None:
    attention = AdditiveAttention(2)
    attention.query.weight.copy_(torch.eye(2))
    attention.key.weight.copy_(torch.eye(2))
    attention.score.weight.copy_(torch.tensor([[1.0, -1.0]]))
    query, keys = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[0.5, 0.5], [-1.0, 2.0]]])
    weights = attention(query, attention.key(keys), torch.eye(2)[None], torch.tensor([[True, True]]))
    assert weights.flatten().tolist() == pytest.approx([0.8033016324, 0.1966983674], abs=1e-6)
    masked = attention(query, attention.key(keys), torch.eye(2)[None], torch.tensor([[True, False]]))
    assert masked.flatten().tolist() == [1.0, 0.0]


def test_mask_01_a_source_without_pieces_is_read_as_zero() -> None:
    scores = _random(2, 3, 4).requires_grad_()
    values = _random(2, 4, 5).requires_grad_()
    keep = torch.tensor([[True, True, True, False], [False] * 4])
    context = soft_lookup(scores, values, keep)
    assert not context[1].any()
    context.sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[1].any()
    assert not scores.grad[0, :, 3].any()
    expected = scores[0, :, :3].softmax(-1) @ values[0, :3]
    torch.testing.assert_close(context[0], expected)


@pytest.mark.parametrize("kernel", [1, 3, 5])
@torch.no_grad()
def test_a_gated_convolution_is_a_loop(kernel: int) -> None:
    convolution = GatedConvolution(4, kernel).double()
    convolution.weight.copy_(_random(8, kernel * 4))
    convolution.bias.copy_(_random(8))
    x = _random(2, 6 + kernel - 1, 4)
    found = convolution(x)
    assert found.shape == (2, 6, 4)
    weight = convolution.weight.view(8, kernel, 4)
    for row in range(2):
        for t in range(6):
            for channel in range(4):
                value, gate = (
                    float(convolution.bias[unit])
                    + sum(
                        float(weight[unit, place, c] * x[row, t + place, c])
                        for place in range(kernel)
                        for c in range(4)
                    )
                    for unit in (channel, channel + 4)
                )
                assert float(found[row, t, channel]) == pytest.approx(value / (1 + math.exp(-gate)), abs=1e-12)
    conv1d = F.conv1d(x.transpose(1, 2), weight.transpose(1, 2), convolution.bias)
    torch.testing.assert_close(found, F.glu(conv1d, dim=1).transpose(1, 2), atol=1e-12, rtol=0)


def _convolved(layer: GatedConvolution, xs: list[Tensor], first: int) -> list[Tensor]:
    """GLU of the windows that begin ``first`` positions from each; beyond the ends there are zeros."""
    zero = torch.zeros_like(xs[0])
    found = []
    for t in range(len(xs)):
        places = [t + first + place for place in range(layer.kernel)]
        window = torch.cat([xs[place] if 0 <= place < len(xs) else zero for place in places])
        value, gate = (layer.weight @ window + layer.bias).chunk(2)
        found.append(value * torch.sigmoid(gate))
    return found


@pytest.mark.parametrize("kernel", [1, 3, 5])
@torch.no_grad()
def test_the_convolutional_network_is_a_loop_over_positions(kernel: int) -> None:
    network = _network(architecture="convolutional", layers=2, kernel_size=kernel, position="none")
    assert isinstance(network, ConvolutionalNetwork)
    found = network.decode(TARGET, network.encode(SOURCE))
    half = math.sqrt(0.5)

    def linear(map_: nn.Linear, x: Tensor) -> Tensor:
        return map_.weight @ x + map_.bias

    for row in range(3):
        source = list(_embedded(network, SOURCE[row, : LENGTHS[row]], "source"))
        xs = [linear(network.encoder.into, e) for e in source]
        for layer in network.encoder.convolutions:
            xs = [(x + h) * half for x, h in zip(xs, _convolved(layer, xs, -(kernel // 2)), strict=True)]
        keys = [linear(network.encoder.out, x) for x in xs]
        values = [(key + e) * half for key, e in zip(keys, source, strict=True)]
        target = list(_embedded(network, TARGET[row, : int((TARGET[row] != 0).sum())], "target"))
        xs = [linear(network.decoder.into, g) for g in target]
        for layer in network.decoder.layers:
            hs = _convolved(layer.convolution, xs, 1 - kernel)
            for t, (h, g) in enumerate(zip(hs, target, strict=True)):
                query = (linear(layer.query, h) + g) * half
                scores = [float(query @ key) / math.sqrt(12) for key in keys]
                total = sum(math.exp(score) for score in scores)
                context = sum(math.exp(s) / total * v for s, v in zip(scores, values, strict=True))
                h = (h + linear(layer.context, context * math.sqrt(len(source)))) * half
                xs[t] = (xs[t] + h) * half
        for position, x in enumerate(xs):
            torch.testing.assert_close(found[row, position], linear(network.decoder.out, x), atol=1e-10, rtol=0)


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("bag", ["average", "concatenate"])
@torch.no_grad()
def test_the_bag_is_its_formula(bag: str, window: int) -> None:
    network = _network(architecture="bag", layers=3, bag=bag, bag_window=window)
    assert isinstance(network, BagNetwork)
    found = network.decode(TARGET, network.encode(SOURCE))
    decoder = network.decoder
    for row in range(3):
        mean = _embedded(network, SOURCE[row, : LENGTHS[row]], "source").mean(0)
        target = _embedded(network, TARGET[row], "target")
        for t in range(int((TARGET[row] != 0).sum())):
            seen = [target[i] if i >= 0 else torch.zeros(12, dtype=torch.float64) for i in range(t - window + 1, t + 1)]
            read = torch.cat(seen) if bag == "concatenate" else sum(seen) / min(t + 1, window)
            x = torch.tanh(decoder.source.weight @ mean + decoder.target.weight @ read + decoder.target.bias)
            for layer in decoder.hidden:
                x = torch.tanh(layer.weight @ x + layer.bias)
            expected = decoder.out.weight @ x + decoder.out.bias
            torch.testing.assert_close(found[row, t], expected, atol=1e-10, rtol=0)
