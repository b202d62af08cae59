"""Post-norm and pre-norm models against ``torch.nn.Transformer`` with the same weights, a program we did not write."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.transformer import Transformer

VOCABULARY = 50


def _reference(ours: Transformer, model: Model) -> nn.Transformer:
    reference = nn.Transformer(
        model.d_model,
        model.heads,
        model.layers,
        model.layers,
        model.d_ff,
        dropout=0.0,
        activation=model.ffn,
        layer_norm_eps=model.norm_epsilon,
        batch_first=True,
        norm_first=model.norm_placement == "pre",
    )
    if model.norm_placement == "post":  # such stacks have no norm of their own (ARCH-07)
        reference.encoder.norm = None
        reference.decoder.norm = None
    with torch.no_grad():
        if model.norm_placement == "pre":
            _copy_linear(reference.encoder.norm, ours.encoder.final_norm)
            _copy_linear(reference.decoder.norm, ours.decoder.final_norm)
        for theirs, mine in zip(reference.encoder.layers, ours.encoder.layers, strict=True):
            _copy_self(theirs, mine)
            _copy_norm(theirs.norm2, mine.feed_forward_residual)
        for theirs, mine in zip(reference.decoder.layers, ours.decoder.layers, strict=True):
            _copy_self(theirs, mine)
            cross = mine.cross_attention
            theirs.multihead_attn.in_proj_weight.copy_(torch.cat((cross.query.weight, cross.key_value.weight)))
            theirs.multihead_attn.in_proj_bias.copy_(torch.cat((cross.query.bias, cross.key_value.bias)))
            _copy_linear(theirs.multihead_attn.out_proj, cross.output)
            _copy_norm(theirs.norm2, mine.cross_residual)
            _copy_norm(theirs.norm3, mine.feed_forward_residual)
    return reference


def _copy_self(theirs, mine) -> None:
    theirs.self_attn.in_proj_weight.copy_(mine.self_attention.qkv.weight)
    theirs.self_attn.in_proj_bias.copy_(mine.self_attention.qkv.bias)
    _copy_linear(theirs.self_attn.out_proj, mine.self_attention.output)
    _copy_linear(theirs.linear1, mine.feed_forward.inner)
    _copy_linear(theirs.linear2, mine.feed_forward.outer)
    _copy_norm(theirs.norm1, mine.self_residual)


def _copy_linear(theirs, mine) -> None:
    theirs.weight.copy_(mine.weight)
    theirs.bias.copy_(mine.bias)


def _copy_norm(theirs, residual) -> None:
    _copy_linear(theirs, residual.norm)


def _sinusoids(length: int, width: int) -> torch.Tensor:
    return torch.tensor(
        [
            [(math.sin, math.cos)[c % 2](p / 10000 ** (2 * (c // 2) / width)) for c in range(width)]
            for p in range(length)
        ]
    )


def _disturb(model: nn.Module) -> None:
    """Give biases and norms values that a mistake in mapping them would show."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.05)


@pytest.mark.parametrize(
    "model",
    [
        Model(layers=2, d_model=32, d_ff=64, heads=4),
        Model(layers=1, d_model=24, d_ff=40, heads=1, norm_epsilon=1e-3),
        Model(layers=2, d_model=32, d_ff=64, heads=4, norm_placement="pre"),
        Model(layers=2, d_model=32, d_ff=64, heads=4, norm_placement="pre", ffn="gelu"),
        Model(layers=2, d_model=32, d_ff=64, heads=4, ffn="gelu"),
    ],
    ids=["base", "one-head", "pre-norm", "pre-norm-gelu", "gelu"],
)
def test_logits_and_gradients_equal_torch_transformer(model: Model) -> None:
    ours = build_model(model, VOCABULARY, VOCABULARY, seed=1).eval()
    _disturb(ours)
    reference = _reference(ours, model)  # in training mode, dropout 0: the fast path of eval() is another program

    generator = torch.Generator().manual_seed(0)
    source = torch.randint(1, VOCABULARY, (3, 7), generator=generator)
    target = torch.randint(1, VOCABULARY, (3, 5), generator=generator)
    source[1, 4:] = 0
    target[2, 3:] = 0

    table = ours.output_weight.detach().clone()

    def embed(ids: torch.Tensor) -> torch.Tensor:
        return F.embedding(ids, table) * math.sqrt(model.d_model) + _sinusoids(ids.shape[1], model.d_model)

    hidden = reference(
        embed(source),
        embed(target),
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        src_key_padding_mask=source == 0,
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    expected = hidden @ table.T
    logits = ours(source, target)
    real = target != 0
    assert expected.abs().max() > 1
    torch.testing.assert_close(logits[real], expected[real], atol=1e-5, rtol=0)

    weights = torch.randn(expected[real].shape, generator=generator)
    (expected[real] * weights).sum().backward()
    (logits[real] * weights).sum().backward()
    theirs, mine = reference.encoder.layers[0], ours.encoder.layers[0]
    for their, my in (
        (theirs.self_attn.in_proj_weight, mine.self_attention.qkv.weight),
        (theirs.linear1.weight, mine.feed_forward.inner.weight),
        (theirs.norm1.weight, mine.self_residual.norm.weight),
    ):
        torch.testing.assert_close(my.grad, their.grad, atol=1e-4, rtol=1e-4)
