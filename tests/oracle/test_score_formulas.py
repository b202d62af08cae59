"""Every score, alone and inside attention, against loops and independent implementations in float64."""

import math

import numpy as np
import pytest
import torch

from ablatable.config.model import Model
from ablatable.nn import scores
from ablatable.nn.attention import AttentionCore, SelfAttention
from ablatable.nn.masks import EVERYTHING, padding, within
from ablatable.nn.relative import KINDS as RELATIVE
from ablatable.nn.relative import of_each_layer
from ablatable.nn.scores import KINDS, Additive

HEADS, KEY, VALUE, D_MODEL = 3, 4, 5, 10
CHOICES = [
    {"score": "dot", "score_scale": "1/sqrt(d_k)"},
    {"score": "dot", "score_scale": "none"},
    {"score": "dot", "score_scale": "1/d_k"},
    {"score": "dot", "score_scale": "1/sqrt(d_model)"},
    {"score": "dot", "score_scale": "learned"},
    {"score": "additive"},
    {"score": "cosine"},
]
MASKINGS = ("nothing", "padding", "causal and left padding", "window 3", "causal window 3")


def _model(**choices) -> Model:
    return Model(d_model=D_MODEL, heads=HEADS, d_k=KEY, d_v=VALUE, **choices)


def _core(choices, kernel="auto") -> AttentionCore:
    """Trained factors and vectors are neither 0 nor 1."""
    core = AttentionCore(KINDS[choices["score"]](_model(**choices)), kernel=kernel).double()
    _randomise(core)
    return core


def _randomise(module) -> None:
    generator = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) + 0.5)


def _tensors(queries=4, keys=4, requires_grad=False):
    generator = torch.Generator().manual_seed(queries * 100 + keys)
    sizes = ((queries, KEY), (keys, KEY), (keys, VALUE))
    return tuple(
        torch.randn(2, n, HEADS, width, generator=generator, dtype=torch.float64).requires_grad_(requires_grad)
        for n, width in sizes
    )


def _score(choices, core, head, q, k) -> float:
    """The formula, from lists of numbers."""
    dot = sum(a * b for a, b in zip(q, k, strict=True))
    if choices["score"] == "additive":
        v = core.score.weight[head].tolist()
        return sum(v[i] * math.tanh(q[i] + k[i]) for i in range(len(q)))
    if choices["score"] == "cosine":
        return core.score.factor.item() * dot / math.sqrt(sum(a * a for a in q)) / math.sqrt(sum(b * b for b in k))
    factors = {
        "1/sqrt(d_k)": 1 / math.sqrt(KEY),
        "none": 1.0,
        "1/d_k": 1 / KEY,
        "1/sqrt(d_model)": 1 / math.sqrt(D_MODEL),
    }
    scale = choices["score_scale"]
    return dot * (core.score.factor.item() if scale == "learned" else factors[scale])


def _mask(masking, keys):
    keep = torch.ones(2, keys, dtype=torch.bool)
    if masking == "nothing":
        return EVERYTHING, lambda b, t, s: True
    if masking == "padding":
        keep[1, 2:] = False
        return padding(keep), lambda b, t, s: keep[b, s]
    if masking == "causal and left padding":
        keep[1, 0] = False
        return within(keep, True, None), lambda b, t, s: keep[b, s] and s <= t
    if masking == "window 3":
        return within(keep, False, 3), lambda b, t, s: abs(s - t) <= 1
    return within(keep, True, 3), lambda b, t, s: s in (t - 1, t)


@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("kernel", ["matmul", "sdpa"])
@pytest.mark.parametrize("choices", CHOICES, ids=lambda c: "-".join(c.values()))
def test_attention_equals_the_loop(choices, kernel, masking) -> None:
    core = _core(choices, kernel=kernel)
    q, k, v = _tensors()
    mask, visible = _mask(masking, 4)
    weights = torch.zeros(2, HEADS, 4, 4, dtype=torch.float64)
    context = torch.zeros(2, 4, HEADS, VALUE, dtype=torch.float64)
    for b, h, t in np.ndindex(2, HEADS, 4):
        seen = [s for s in range(4) if visible(b, t, s)]
        exps = [math.exp(_score(choices, core, h, q[b, t, h].tolist(), k[b, s, h].tolist())) for s in seen]
        for s, e in zip(seen, exps, strict=True):
            weights[b, h, t, s] = e / sum(exps)
            context[b, t, h] += weights[b, h, t, s] * v[b, s, h]
    torch.testing.assert_close(core(q, k, v, mask), context, atol=1e-10, rtol=0)
    torch.testing.assert_close(core.weights(q, k, mask), weights, atol=1e-10, rtol=0)
    single = core.float()(*(x.float() for x in (q, k, v)), mask)
    torch.testing.assert_close(single, context.float(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("masking", ["nothing", "causal and left padding"])
@pytest.mark.parametrize(
    "choices", [{"score": "dot", "score_scale": "learned"}, *CHOICES[-2:]], ids=lambda c: "-".join(c.values())
)
def test_the_gradient_is_the_gradient(choices, masking) -> None:
    """Of queries, keys, values and the score's own parameters."""
    core = _core(choices)
    inputs = _tensors(3, 3, requires_grad=True)
    mask, _ = _mask(masking, 3)
    assert torch.autograd.gradcheck(lambda q, k, v, *_: core(q, k, v, mask), (*inputs, *core.parameters()))


def _allowed():
    """Every score under every relative kind, but for what is refused at load."""
    for choices in CHOICES:
        for position in (None, *RELATIVE):
            refused = {"rope": ("additive",), "shaw": ("additive", "cosine")}.get(position, ())
            if choices["score"] not in refused:
                yield pytest.param(choices, position, id="-".join((*choices.values(), str(position))))


@pytest.mark.parametrize("kernel", ["matmul", "sdpa"])
@pytest.mark.parametrize(("choices", "position"), list(_allowed()))
def test_mask_01_and_02_a_query_without_keys_stays_zero(choices, position, kernel) -> None:
    """Weights and context, forward and gradient."""
    core = _core(choices, kernel=kernel)
    relative = None
    if position is not None:
        relative = next(iter(of_each_layer(_model(position=position, layers=1), causal=True))).double()
        _randomise(relative)
    inputs = _tensors(requires_grad=True)
    keep = torch.tensor([[True] * 4, [False, True, True, True]])
    mask = within(keep, True, None)
    q, k, v = inputs
    context = core(q, k, v, mask, relative)
    weights = core.weights(q, k, mask, relative)
    assert torch.equal(context[1, 0], torch.zeros(HEADS, VALUE, dtype=torch.float64))
    assert torch.equal(weights[1, :, 0], torch.zeros(HEADS, 4, dtype=torch.float64))
    torch.testing.assert_close(weights.sum(-1)[1, :, 1:], torch.ones(HEADS, 3, dtype=torch.float64))
    parameters = [*core.parameters(), *([] if relative is None else relative.parameters())]
    gradients = torch.autograd.grad(context[1, 0].sum(), (*inputs, *parameters), retain_graph=True, allow_unused=True)
    assert all(gradient is None or not gradient.any() for gradient in gradients)
    for gradient in torch.autograd.grad(context.square().sum(), (*inputs, *parameters)):
        assert torch.isfinite(gradient).all()
    assert not torch.autograd.grad(core(q, k, v, mask, relative).square().sum(), q)[0][1, 0].any()


@pytest.mark.parametrize("position", ["alibi", "t5", "shaw"])
def test_every_kernel_takes_a_bias(position) -> None:
    relative = next(iter(of_each_layer(_model(position=position, layers=1), causal=True))).double()
    _randomise(relative)
    inputs = _tensors(requires_grad=True)
    mask, _ = _mask("causal and left padding", 4)
    results = []
    for kernel in ("matmul", "sdpa"):
        core = _core(CHOICES[0], kernel=kernel)
        context = core(*inputs, mask, relative)
        results.append((context, *torch.autograd.grad(context.square().sum(), (*inputs, *relative.parameters()))))
    for plain, fused in zip(*results, strict=True):
        torch.testing.assert_close(plain, fused, atol=1e-10, rtol=0)


def test_additive_equals_an_independent_implementation() -> None:
    """As a layer of its own: e = V^T tanh(W1 q + W2 k), softmax over keys, the mean of the values, in plain numpy."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(2, 5, D_MODEL))
    attention = SelfAttention(D_MODEL, 1, KEY, VALUE, True, AttentionCore(Additive(1, KEY))).double()
    _randomise(attention)
    w = attention.qkv.weight.detach().numpy()
    b = attention.qkv.bias.detach().numpy()
    query, key, value = (x @ w[rows].T + b[rows] for rows in (slice(KEY), slice(KEY, 2 * KEY), slice(2 * KEY, None)))
    v = attention.core.score.weight.detach().numpy()[0]
    energies = np.tanh(np.expand_dims(query, -2) + np.expand_dims(key, -3)) @ v
    energies -= energies.max(-1, keepdims=True)
    alignment = np.exp(energies) / np.exp(energies).sum(-1, keepdims=True)
    expected = alignment @ value @ attention.output.weight.detach().numpy().T + attention.output.bias.detach().numpy()
    with torch.no_grad():
        got = attention(torch.from_numpy(x), EVERYTHING).numpy()
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("held", [1, 200, 1 << 22], ids=["one query", "three queries", "all of them"])
def test_the_additive_score_is_the_same_however_much_is_held(held, monkeypatch) -> None:
    monkeypatch.setattr(scores, "_CHUNK", held)
    score = Additive(HEADS, KEY).double()
    _randomise(score)
    q, k, _ = _tensors(7, 3, requires_grad=True)
    hidden = torch.tanh(q.transpose(1, 2)[:, :, :, None] + k.transpose(1, 2)[:, :, None])
    direction = torch.randn(2, HEADS, 7, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    results = []
    for made in (score(q, k), torch.einsum("bhtsk,hk->bhts", hidden, score.weight)):
        results.append((made, *torch.autograd.grad((made * direction).sum(), (q, k, score.weight))))
    for mine, theirs in zip(*results, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-10, rtol=0)


@pytest.mark.parametrize("choices", CHOICES, ids=lambda c: "-".join(c.values()))
def test_one_head_is_single_head_attention(choices) -> None:
    """Splitting into h = 1 changes nothing: the head is the whole projection, whatever the score."""
    model = Model(d_model=8, heads=1, d_k=6, d_v=6, **choices)  # at d_model 6 two scales would be one
    core = AttentionCore(KINDS[choices["score"]](model))
    attention = SelfAttention(6, 1, 6, 6, True, core).double()
    _randomise(attention)
    x = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    q, k, v = (x @ attention.qkv.weight.T + attention.qkv.bias).chunk(3, dim=-1)
    if choices["score"] == "additive":
        expected = torch.tanh(q[:, :, None] + k[:, None]) @ core.score.weight[0]
    elif choices["score"] == "cosine":
        expected = core.score.factor * torch.cosine_similarity(q[:, :, None], k[:, None], dim=-1)
    else:
        scale = {"1/sqrt(d_k)": 6**-0.5, "none": 1.0, "1/d_k": 1 / 6, "1/sqrt(d_model)": 8**-0.5}
        expected = q @ k.transpose(1, 2) * scale.get(choices["score_scale"], getattr(core.score, "factor", None))
    expected = attention.output(torch.softmax(expected, dim=-1) @ v)
    torch.testing.assert_close(attention(x, EVERYTHING), expected, atol=1e-10, rtol=0)
