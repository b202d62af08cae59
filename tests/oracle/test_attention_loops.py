"""Every attention kernel against loops written from the formula, in float64."""

import math

import pytest
import torch

from ablatable.nn.attention import AttentionCore, CrossAttention, SelfAttention
from ablatable.nn.masks import EVERYTHING, Mask, padding, within
from ablatable.nn.scores import ProductScore

KERNELS = ("matmul", "sdpa", "auto")


def _dot(width: int, kernel="auto") -> AttentionCore:
    return AttentionCore(ProductScore(1 / math.sqrt(width)), kernel=kernel)


def _loop(q, k, v, visible):
    """softmax(q k / sqrt(d_k)) v for (B, T, H, K), one number at a time; ``visible(b, t, s)``."""
    batch, queries, heads, width = q.shape
    context = torch.zeros(batch, queries, heads, v.shape[-1], dtype=torch.float64)
    weights = torch.zeros(batch, heads, queries, k.shape[1], dtype=torch.float64)
    for b in range(batch):
        for h in range(heads):
            for t in range(queries):
                keys = [s for s in range(k.shape[1]) if visible(b, t, s)]
                scores = [
                    sum(float(q[b, t, h, i]) * float(k[b, s, h, i]) for i in range(width)) / math.sqrt(width)
                    for s in keys
                ]
                total = sum(math.exp(score) for score in scores)
                for s, score in zip(keys, scores, strict=True):
                    weights[b, h, t, s] = math.exp(score) / total
                    context[b, t, h] += weights[b, h, t, s] * v[b, s, h]
    return context, weights


def _tensors(queries: int, keys: int, key_size: int, value_size: int, dtype: torch.dtype = torch.float64):
    generator = torch.Generator().manual_seed(queries * 100 + keys)
    return tuple(
        torch.randn(2, length, 3, width, generator=generator, dtype=dtype)
        for length, width in ((queries, key_size), (keys, key_size), (keys, value_size))
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("key_size", "value_size"), [(4, 4), (3, 5), (1, 2)])
@pytest.mark.parametrize("masking", ["nothing", "padding", "causal", "causal and left padding"])
def test_attention_equals_the_formula(kernel, key_size, value_size, masking) -> None:
    queries, keys = (4, 4) if masking.startswith("causal") else (3, 5)
    q, k, v = _tensors(queries, keys, key_size, value_size)
    keep = torch.ones(2, keys, dtype=torch.bool)
    if masking == "padding":
        keep[1, 3:] = False
    if masking == "causal and left padding":
        keep[1, 0] = False
    mask = {"nothing": EVERYTHING, "padding": padding(keep)}.get(masking) or within(keep, causal=True)

    def visible(b: int, t: int, s: int) -> bool:
        return bool(keep[b, s]) and (s <= t or not masking.startswith("causal"))

    context, weights = _loop(q, k, v, visible)
    core = _dot(key_size, kernel)
    torch.testing.assert_close(core(q, k, v, mask), context, atol=1e-12, rtol=0)
    torch.testing.assert_close(core.weights(q, k, mask), weights, atol=1e-12, rtol=0)


@pytest.mark.parametrize("masking", ["nothing", "padding", "causal and left padding"])
def test_the_written_gradient_is_the_gradient(masking) -> None:
    q, k, v = (x.requires_grad_() for x in _tensors(4, 4, 3, 2))
    keep = torch.tensor([[True] * 4, [False, True, True, False]])
    mask: Mask = {"nothing": EVERYTHING, "padding": padding(keep)}.get(masking) or within(keep, causal=True)
    core = _dot(3, "matmul")
    assert torch.autograd.gradcheck(lambda q, k, v: core(q, k, v, mask), (q, k, v))


def test_a_second_derivative_is_refused_rather_than_wrong() -> None:
    q, k, v = (x.requires_grad_() for x in _tensors(2, 2, 2, 2))
    context = _dot(2, "matmul")(q, k, v, EVERYTHING)
    (gradient,) = torch.autograd.grad(context.square().sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("shape", [(64, 16), (4, 200)])
def test_kernels_agree_in_float32(shape) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(*shape, 8, 16, generator=generator, requires_grad=True) for _ in range(3))
    keep = torch.ones(shape, dtype=torch.bool)
    keep[::3, shape[1] // 2 :] = False
    results = []
    for kernel in ("matmul", "sdpa"):
        context = _dot(16, kernel)(q, k, v, within(keep, causal=True))
        results.append((context, *torch.autograd.grad((context * q.detach()).sum(), (q, k, v))))
    for plain, fused in zip(*results, strict=True):
        torch.testing.assert_close(plain, fused, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("heads", "key_size", "value_size"), [(1, 12, 12), (3, 4, 4), (3, 2, 7)])
def test_multi_head_attention_equals_the_formula(heads, key_size, value_size) -> None:
    """MultiHead(Q, K, V) = Concat(head_i) W^O with head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)."""
    d_model = 12
    generator = torch.Generator().manual_seed(heads)
    inside = SelfAttention(d_model, heads, key_size, value_size, True, _dot(key_size)).double()
    across = CrossAttention(d_model, heads, key_size, value_size, True, _dot(key_size)).double()
    x, memory = (torch.randn(2, n, d_model, generator=generator, dtype=torch.float64) for n in (3, 5))
    with torch.no_grad():
        for parameter in (*inside.parameters(), *across.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator))

    def expected(weight, bias, output, keys_from):
        parts = []
        for h in range(heads):
            rows = {
                "q": slice(h * key_size, (h + 1) * key_size),
                "k": slice((heads + h) * key_size, (heads + h + 1) * key_size),
                "v": slice(2 * heads * key_size + h * value_size, 2 * heads * key_size + (h + 1) * value_size),
            }
            q, k, v = (
                (source @ weight[rows[name]].T + bias[rows[name]])[:, :, None]
                for name, source in (("q", x), ("k", keys_from), ("v", keys_from))
            )
            parts.append(_loop(q, k, v, lambda b, t, s: True)[0][:, :, 0])
        return torch.cat(parts, dim=-1) @ output.weight.T + output.bias

    with torch.no_grad():
        torch.testing.assert_close(
            inside(x, EVERYTHING),
            expected(inside.qkv.weight, inside.qkv.bias, inside.output, x),
            atol=1e-10,
            rtol=0,
        )
        weight = torch.cat((across.query.weight, across.key_value.weight))
        bias = torch.cat((across.query.bias, across.key_value.bias))
        torch.testing.assert_close(
            across(x, across.project(memory), EVERYTHING),
            expected(weight, bias, across.output, memory),
            atol=1e-10,
            rtol=0,
        )
