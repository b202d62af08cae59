"""Whole tiny runs against their formulas: the update from given gradients, what validation reads, the likelihood."""

from __future__ import annotations

from itertools import accumulate, chain
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from run_effects import given_gradient, referred, seen
from tiny_space import ROOT, experiment, pair, tried
from torch import Tensor

from ablatable.config.schema import Experiment
from ablatable.data.dataset import prepare
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork


def _network(tiny: Experiment) -> AnyNetwork:
    dataset = prepare(tiny, ROOT / "cache")
    return build_model(tiny.model, dataset.source_tokenizer.size, dataset.target_tokenizer.size, tiny.seed)


def _penalised(gradient: Tensor, weight: Tensor, l1: float, l2: float) -> Tensor:
    return gradient + l1 * weight.sign() + l2 * weight if weight.ndim > 1 else gradient


def _updated(tiny: Experiment) -> dict[str, Tensor]:
    """Sections 5.1, 5.3 and 5.4 in float64: gradients of all batches of an update, penalties, clipping, Adam, decay."""
    train = tiny.train
    weights = {name: tensor.detach().double() for name, tensor in referred(_network(tiny)).named_parameters()}
    first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    second = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for update in range(1, train.updates + 1):
        batches = range((update - 1) * train.accumulate + 1, update * train.accumulate + 1)
        gradients: dict[str, Tensor] = {}
        for name, weight in weights.items():
            total = torch.stack([given_gradient(name, weight.shape, batch).double() for batch in batches]).sum(0)
            gradients[name] = _penalised(total, weight, train.l1, train.l2)
        length = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
        shrink = min(1.0, float(train.clip_norm / length)) if train.clip_norm else 1.0
        rate = train.learning_rate_factor * tiny.model.d_model**-0.5 * min(update**-0.5, update * train.warmup**-1.5)
        for name, weight in weights.items():
            gradient = shrink * gradients[name]
            first[name] = train.beta1 * first[name] + (1 - train.beta1) * gradient
            second[name] = train.beta2 * second[name] + (1 - train.beta2) * gradient**2
            mean, square = first[name] / (1 - train.beta1**update), second[name] / (1 - train.beta2**update)
            decay = train.weight_decay * weight if weight.ndim > 1 else torch.zeros_like(weight)
            weights[name] = weight - rate * (mean / (square.sqrt() + train.adam_epsilon) + decay)
    return weights


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"train.accumulate": 3},
        {"train.accumulate": 3, "train.clip_norm": 1.0},
        {"train.l1": 0.1, "train.l2": 0.2, "train.clip_norm": 5.0, "train.accumulate": 2},
        {"train.weight_decay": 0.1, "train.learning_rate_factor": 0.5},
        {"train.beta1": 0.5, "train.beta2": 0.9, "train.adam_epsilon": 1e-3, "train.updates": 7},
    ],
    ids=lambda settings: " ".join(path.removeprefix("train.") for path in settings) or "base",
)
def test_the_updates_of_a_run_are_those_of_the_formula(settings: dict[str, Any]) -> None:
    tiny = experiment(settings)
    moved = seen(tiny).moved
    assert int(moved["updates"]) == tiny.train.updates
    for name, expected in _updated(tiny).items():
        torch.testing.assert_close(moved[f"model.{name}"].double(), expected, atol=2e-5, rtol=1e-4, msg=name)


def _read(batch: Any) -> list[Any]:
    """The sentences of a batch, without padding."""
    return [tuple(tuple(index for index in side if index) for side in pair) for pair in zip(*batch, strict=True)]


def test_every_epoch_is_all_of_the_text_in_batches_of_its_own() -> None:
    """TRN-08: the members of a batch change from epoch to epoch, not only the order of batches."""
    text = seen(experiment({"train.updates": 24, "train.validate_every": 24})).text
    batches = [_read(batch) for update in text for batch in update]
    pairs = len(prepare(experiment(), ROOT / "cache").train)
    ends = [end for end, read in enumerate(accumulate(map(len, batches)), 1) if read % pairs == 0]
    first, second = batches[: ends[0]], batches[ends[0] : ends[1]]
    assert sorted(chain.from_iterable(first)) == sorted(chain.from_iterable(second))
    assert not {frozenset(batch) for batch in first} & {frozenset(batch) for batch in second if len(batch) > 1}


@pytest.mark.parametrize(
    "settings", [{}, {"data.subword_sampling": 0.5}, {"data.word_dropout": 0.5}, {"data.word_swap": 3}], ids=str
)
def test_validation_reads_the_text_as_it_is(settings: dict[str, Any]) -> None:
    noted = seen(experiment(settings))
    read = [[[index for index in side if index] for side in pair] for pair in noted.validated]
    expected = [[[*side, 3] for side in pair] for pair in noted.held_out["valid"]]
    assert sorted(read) == sorted(expected * (len(read) // len(expected)))
    assert read


@pytest.mark.parametrize("path", ["data.subword_sampling", "data.word_dropout", "data.word_swap"])
def test_augmentation_is_of_the_training_text_alone(path: str) -> None:
    before, after = (seen(one) for one in pair(path, tried(path)[-1], {}))
    assert before.text != after.text
    assert (before.held_out, before.validated, before.nll) == (after.held_out, after.validated, after.nll)


def test_the_likelihood_is_the_mean_over_the_tokens_of_each_sentence_alone() -> None:
    """Unsmoothed, without dropout, padding or neighbours; end marks counted."""
    noted, model = seen(experiment()), referred(_network(experiment()))
    sums, tokens = 0.0, 0
    for source, target in noted.held_out["test"]:
        logits = model(torch.tensor([[*source, 3]]), torch.tensor([[2, *target]]))[0]
        sums += float(F.cross_entropy(logits.double(), torch.tensor([*target, 3]), reduction="sum").detach())
        tokens += len(target) + 1
    assert noted.nll == pytest.approx(sums / tokens, rel=1e-5)


@pytest.mark.parametrize(
    "settings",
    [{}, {"train.accumulate": 3}, {"runtime.micro_batches": 3}, {"train.accumulate": 2, "train.label_smoothing": 0.0}],
    ids=str,
)
def test_a_first_update_is_the_gradient_of_the_mean_over_all_its_tokens(settings: dict[str, Any]) -> None:
    """LOSS-08. Adam's epsilon is 1 here, so that the step grows with the gradient."""
    tiny = experiment({"train.updates": 1, "train.adam_epsilon": 1.0, "model.dropout": 0.0, **settings})
    noted, model = seen(tiny), _network(tiny)
    (batches,) = noted.text
    tokens = sum(index != 0 for _, target in batches for row in target for index in row)
    for source, target in batches:
        labels = torch.tensor(target)
        read = torch.cat((torch.full_like(labels[:, :1], 2), labels.masked_fill(labels == 3, 0)[:, :-1]), dim=1)
        logits = model(torch.tensor(source), read).flatten(0, 1)
        smoothing = tiny.train.label_smoothing
        loss = F.cross_entropy(logits, labels.flatten(), ignore_index=0, label_smoothing=smoothing, reduction="sum")
        (loss / tokens).backward()
    rate = tiny.model.d_model**-0.5 * tiny.train.warmup**-1.5
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert noted.initial[name].equal(parameter)
        step = (parameter - noted.last[f"model.{name}"]).detach() / rate
        torch.testing.assert_close(step, parameter.grad / (parameter.grad.abs() + 1), atol=1e-5, rtol=1e-3, msg=name)
