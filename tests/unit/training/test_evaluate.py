"""Sums of a batch: padding has no part in loss or accuracy."""

from dataclasses import replace

import torch

from ablatable.config.model import Model
from ablatable.data.collate import Batch
from ablatable.nn.build import build_model
from ablatable.training.evaluate import batch_losses
from ablatable.training.loss import Smoothing

MODEL = build_model(Model(layers=1, d_model=8, d_ff=16, heads=2), 12, 12, 1).eval()


def batch(output: list[int]) -> Batch:
    """One pair whose target has these labels, 0 being padding."""
    shown = [2, *(label or 0 for label in output[:-1])]
    read = [token if label else 0 for token, label in zip(shown, output, strict=True)]
    real = sum(label != 0 for label in output)
    return Batch(torch.tensor([[5, 6, 3]]), torch.tensor([read]), torch.tensor([output]), 3, real)


def predicted(pair: Batch) -> list[int]:
    with torch.no_grad():
        return MODEL.logits(MODEL.decode(pair.target_input, MODEL.encode(pair.source)))[0].argmax(dim=1).tolist()


def test_loss_12_accuracy_leaves_padding_out() -> None:
    """One real token, predicted rightly, and two of padding: 1/1, where padding would make it 1/3 or 3/3."""
    first = predicted(batch([5, 0, 0]))[0]
    sums = batch_losses(MODEL, batch([first, 0, 0]), None)
    assert (int(sums.correct), sums.tokens) == (1, 1)
    wrong = batch_losses(MODEL, batch([first % 11 + 1, 0, 0]), None)
    assert (int(wrong.correct), wrong.tokens) == (0, 1)


def test_loss_09_padding_adds_nothing_to_the_loss_and_may_be_absent() -> None:
    smoothing = Smoothing(0.4)
    padded, bare = batch([7, 3, 0, 0]), batch([7, 3])
    a, b = (batch_losses(MODEL, pair, smoothing) for pair in (padded, bare))
    torch.testing.assert_close(a.smoothed, b.smoothed)
    torch.testing.assert_close(a.nll, b.nll)
    assert a.tokens == b.tokens == 2


def test_a_batch_without_a_label_is_worth_nothing() -> None:
    """What a device is given that a small batch leaves empty: its gradients are zeros and not absent."""
    empty = replace(batch([7, 3]), target_output=torch.zeros(1, 2, dtype=torch.long), target_tokens=0)
    MODEL.zero_grad()
    sums = batch_losses(MODEL, empty, Smoothing(0.1))
    sums.smoothed.backward()
    assert sums.tokens == int(sums.nll) == 0
    assert all(p.grad is not None and not p.grad.any() for p in MODEL.parameters())
