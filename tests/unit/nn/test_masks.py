"""Masks: polarity, empty rows, combination, one source of causality."""

import math

import pytest
import torch

from ablatable.config.model import Model
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.masks import EVERYTHING, padding, within
from ablatable.nn.scores import ProductScore

KERNELS = ("matmul", "sdpa")


def _dot(width: int, kernel="auto") -> AttentionCore:
    return AttentionCore(ProductScore(1 / math.sqrt(width)), kernel=kernel)


def _small(**changes):
    return build_model(Model(**{"layers": 2, "d_model": 16, "d_ff": 24, "heads": 2} | changes), 20, 20, seed=1).eval()


@pytest.mark.parametrize("kernel", KERNELS)
def test_mask_01_a_query_without_keys_gives_zero_and_harms_no_gradient(kernel: str) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, 2, 2, generator=generator, requires_grad=True) for _ in range(3))
    keep = torch.tensor([[True, True, False], [False, False, False]])
    core = _dot(2, kernel)
    context = core(q, k, v, padding(keep))
    assert torch.equal(context[1], torch.zeros(3, 2, 2))
    assert torch.equal(core.weights(q, k, padding(keep))[1], torch.zeros(2, 3, 3))
    gradients = torch.autograd.grad(context[0].sum(), (q, k, v))

    alone = core(q[:1], k[:1], v[:1], padding(keep[:1]))
    torch.testing.assert_close(context[:1], alone, atol=1e-6, rtol=0)
    for both, one in zip(gradients, torch.autograd.grad(alone.sum(), (q, k, v)), strict=True):
        assert torch.isfinite(both).all()
        torch.testing.assert_close(both, one, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_mask_02_causal_with_left_padding(kernel: str) -> None:
    q, k, v = (torch.randn(1, 3, 2, 2, generator=torch.Generator().manual_seed(i)) for i in range(3))
    context = _dot(2, kernel)(q, k, v, within(torch.tensor([[False, True, True]]), causal=True))
    assert torch.equal(context[0, 0], torch.zeros(2, 2))
    assert torch.isfinite(context).all()
    assert context[0, 1:].abs().min() > 0


def test_mask_01_a_sentence_of_nothing_but_padding_through_the_whole_model() -> None:
    model = _small().train()
    source = torch.tensor([[5, 6, 0], [0, 0, 0]])
    target = torch.tensor([[2, 7], [0, 0]])
    logits = model(source, target)
    assert torch.isfinite(logits).all()
    logits[0].sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("token", range(1, 6))
def test_mask_03_causality(token: int) -> None:
    """Decoder self-attention is causal; a changed future token leaves the past bitwise equal."""
    model = _small()
    source = torch.randint(4, 20, (2, 7), generator=torch.Generator().manual_seed(0))
    target = torch.randint(4, 20, (2, 6), generator=torch.Generator().manual_seed(1))
    changed = target.clone()
    changed[:, token] = (changed[:, token] - 4 + 5) % 16 + 4
    before, after = model(source, target), model(source, changed)
    assert torch.equal(before[:, :token], after[:, :token])
    assert not torch.equal(before[:, token:], after[:, token:])


def test_mask_03_encoder_and_cross_attention_see_both_ways() -> None:
    model = _small()
    source = torch.tensor([[5, 6, 7, 8]])
    changed = torch.tensor([[5, 6, 7, 9]])
    first, second = model.encode(source), model.encode(changed)
    assert not torch.equal(first.states[:, 0], second.states[:, 0])
    target = torch.tensor([[2, 4]])
    assert not torch.equal(model.decode(target, first)[:, 0], model.decode(target, second)[:, 0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_mask_05_true_means_keep(kernel: str) -> None:
    q = torch.zeros(1, 1, 1, 2)
    k = torch.zeros(1, 2, 1, 2)
    v = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).view(1, 2, 1, 2)
    context = _dot(2, kernel)(q, k, v, padding(torch.tensor([[True, False]])))
    assert context.flatten().tolist() == [1.0, 0.0]


def test_mask_06_only_id_zero_is_padding_on_either_side() -> None:
    memory = _small().encode(torch.tensor([[5, 1, 3], [2, 0, 0]]))
    assert memory.keep.tolist() == [[True, True, True], [True, False, False]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_mask_09_no_precision_overflows(dtype: torch.dtype) -> None:
    q, k, v = (torch.randn(2, 4, 2, 4, generator=torch.Generator().manual_seed(i)).to(dtype) for i in range(3))
    keep = torch.tensor([[True, True, True, False], [False, True, False, False]])
    context = _dot(4, "matmul")(50 * q, 50 * k, v, within(keep, causal=True))
    assert torch.isfinite(context).all()
    assert torch.equal(context[1, 3], v[1, 1])  # one visible key: all weight on it


def test_mask_10_examples_of_a_batch_do_not_mix() -> None:
    model = _small()
    source = torch.tensor([[5, 6, 7], [8, 9, 10], [11, 5, 9]])
    target = torch.tensor([[2, 4], [2, 5], [2, 6]])
    together = model(source, target)
    for i in range(3):
        torch.testing.assert_close(together[i], model(source[i : i + 1], target[i : i + 1])[0], atol=1e-6, rtol=0)
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(source[order], target[order]), together[order], atol=1e-6, rtol=0)


@pytest.mark.parametrize("extra", [1, 5])
def test_padding_changes_nothing(extra: int) -> None:
    model = _small()
    source, target = torch.tensor([[5, 6, 7]]), torch.tensor([[2, 4, 9]])
    pad = torch.zeros(1, extra, dtype=torch.long)
    padded = model(torch.cat((source, pad), 1), torch.cat((target, pad), 1))[:, :3]
    torch.testing.assert_close(padded, model(source, target), atol=1e-5, rtol=0)
    with torch.no_grad():
        model.source_input.embedding.weight[0] = 100.0  # what a pad is embedded as does not matter
    logits = model(torch.cat((source, pad), 1), torch.cat((target, pad), 1))[:, :3]
    torch.testing.assert_close(logits[..., 1:], padded[..., 1:], atol=1e-5, rtol=0)


def test_nothing_hidden_needs_no_mask() -> None:
    assert padding(torch.ones(2, 3, dtype=torch.bool)) is EVERYTHING


def test_the_general_mask_equals_the_short_cut() -> None:
    """On CUDA nobody asks whether anything is hidden; the mask built there must say the same."""
    keep = torch.ones(1, 3, dtype=torch.bool)
    short = within(keep, causal=True)
    general = within(torch.cat((keep, torch.tensor([[False, True, True]]))), causal=True)
    assert short.keep is not None
    assert general.keep is not None
    assert torch.equal(short.keep[0], general.keep[0])
    assert general.bias is not None
    assert set(general.bias.flatten().tolist()) == {0.0, -math.inf}
