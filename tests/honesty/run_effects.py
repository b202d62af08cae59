"""What a whole tiny run shows of its settings, measured on the real code: for the sections outside ``model``.

Each experiment trains twice through the Trainer: once as it is, once with given gradients in place of its own, so that
what is made of a gradient is seen apart from where the gradient comes from. Then what was scored, and what evaluation
makes of weights that are the same for all.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import torch
from tiny_space import ROOT
from torch import Tensor, nn

from ablatable.config.axis import Effect
from ablatable.config.identity import run_id
from ablatable.config.schema import Experiment
from ablatable.data.collate import Batch, collate
from ablatable.data.dataset import Dataset, prepare
from ablatable.data.tokenizers.special import EOS
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.training.checkpoint import Checkpoints
from ablatable.training.final import evaluate_split
from ablatable.training.fit import _FittedModule, fit
from ablatable.training.module import TranslationModule
from ablatable.training.run import evaluated_model
from ablatable.training.stream import MicroBatch

_NUMBERS = itertools.count()


@dataclass
class Seen:
    """What one experiment shows. Weights are by parameter name, ids are nested lists."""

    initial: dict[str, Tensor]
    held_out: dict[str, list[Any]]
    hidden: Tensor
    training_loss: float
    text: list[Any] = field(default_factory=list)
    validated: list[Any] = field(default_factory=list)
    last: dict[str, Tensor] = field(default_factory=dict)
    scored: dict[str, Tensor] = field(default_factory=dict)
    moved: dict[str, Tensor] = field(default_factory=dict)
    nll: float = 0.0
    translations: list[str] = field(default_factory=list)

    @property
    def shapes(self) -> dict[str, torch.Size]:
        return {name: tensor.shape for name, tensor in self.initial.items()}


@cache
def seen(tiny: Experiment) -> Seen:
    """Train and evaluate for real, and note what is seen on the way."""
    dataset = prepare(tiny, ROOT / "cache")
    module = _FittedModule(dataset, tiny)
    noted = Seen(
        initial=_weights(module.model),
        held_out={split: _ids(dataset.packed(split)) for split in ("valid", "test")},
        hidden=_hidden(referred(module.model)),
        training_loss=float(module.train().training_step(_fixed_batch(), 0).detach()),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TranslationModule, "training_step", _noting(noted))
        patch.setattr("ablatable.training.evaluate.collate", _noting_validation(noted))
        job = _train(tiny, dataset, "own")
    noted.last = _last(job)
    noted.scored = _weights(evaluated_model(tiny, dataset, Checkpoints(job.folder / "checkpoints")))
    metrics = evaluate_split(job, dataset, referred(module.model), "test")
    noted.nll = metrics["test.nll"].value
    noted.translations = (job.folder / "hypotheses.test.txt").read_text(encoding="utf-8").split("\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TranslationModule, "training_step", _given_gradients())
        noted.moved = _last(_train(tiny, dataset, "given"))
    return noted


def _train(tiny: Experiment, dataset: Dataset, name: str) -> Job:
    folder = ROOT / f"{next(_NUMBERS)}-{name}"
    job = Job(tiny, run_id(tiny, dataset.corpus.fingerprint), Labels(None, None, None), folder, ROOT / "cache")
    (folder / "checkpoints").mkdir(parents=True)
    fit(job, dataset)
    return job


def _noting(noted: Seen) -> Any:
    step = TranslationModule.training_step

    def noting(self: TranslationModule, item: MicroBatch, batch_idx: int) -> Tensor:
        if item.update > len(noted.text):
            noted.text.append([])
        noted.text[-1].append([item.batch.source.tolist(), item.batch.target_output.tolist()])
        return step(self, item, batch_idx)

    return noting


def _noting_validation(noted: Seen) -> Any:
    def noting(*given: Any) -> Batch:
        batch = collate(*given)
        noted.validated += zip(batch.source.tolist(), batch.target_output.tolist(), strict=True)
        return batch

    return noting


def given_gradient(name: str, shape: torch.Size, batch: int) -> Tensor:
    """The gradient that the given run has for a parameter from its n-th batch, counted from 1; of all magnitudes."""
    return 10.0 ** (1 - zlib.crc32(name.encode()) % 9) * _noise(f"{name} {batch}", shape)


def _given_gradients() -> Any:
    """A loss with the same gradient for the n-th batch of every run, whatever the text says."""
    step, batches = TranslationModule.training_step, 0

    def given(self: TranslationModule, item: MicroBatch, batch_idx: int) -> Tensor:
        nonlocal batches
        if not batches:
            referred(self.model).train()
        batches += 1
        step(self, item, batch_idx)
        parts = (p * given_gradient(name, p.shape, batches) for name, p in self.model.named_parameters())
        return sum((part.sum() for part in parts), torch.zeros(())) * self.rank_weight

    return given


def _noise(name: str, shape: torch.Size) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(zlib.crc32(name.encode())))


def referred(model: Any) -> Any:
    """The model with weights by name alone, the same rows of every table.

    Positions weigh more than pieces, and the end is as likely as the likeliest piece: so translations end early and
    late, and searches that differ find others.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            rows = torch.Size((max(400, parameter.shape[0]), *parameter.shape[1:]))
            noise = _noise(name, rows)[: parameter.shape[0]]
            size = 0.7 if name == "output.weight" else 0.35 if parameter.ndim > 1 and "embedding" not in name else 0.1
            parameter.copy_(size * noise + float(name.endswith("norm.weight")))
        usual = _hidden(model.eval()).mean(dim=(0, 1))
        model.output_weight[EOS] += 2.5 * usual / usual.square().sum()
    return model.eval()


_SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 10, 3, 0, 0]])
_TARGET = torch.tensor([[8, 7, 6, 5, 3], [10, 9, 3, 0, 0]])


def _fixed_batch() -> MicroBatch:
    first = torch.full((2, 1), 2)
    read = torch.cat((first, _TARGET.masked_fill(_TARGET == 3, 0)[:, :-1]), dim=1)
    return MicroBatch(Batch(_SOURCE, read, _TARGET, 8, 8), 1, 0, 1, 8, 8)


@torch.no_grad()
@torch.autocast("cpu", enabled=False)
def _hidden(model: Any) -> Tensor:
    return model.decode(_fixed_batch().batch.target_input, model.encode(_SOURCE))


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in model.named_parameters()}


def _last(job: Job) -> dict[str, Tensor]:
    saved = torch.load(job.folder / "checkpoints" / "last.ckpt", weights_only=False)
    return {"updates": torch.tensor(saved["progress"]["update"]), **saved["state_dict"]}


def _ids(pairs: Any) -> list[Any]:
    return [[pairs.source(i).tolist(), pairs.target(i).tolist()] for i in range(len(pairs))]


def _same(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> bool:
    """Equal to the last bit wherever both have a tensor of that name and shape."""
    shared = [name for name in first if name in second and first[name].shape == second[name].shape]
    return all(first[name].equal(second[name]) for name in shared)


def observed(before: Experiment, after: Experiment) -> frozenset[Effect]:
    """What changes from one experiment to the other."""
    return effects(seen(before), seen(after)) if before != after else frozenset()


def effects(before: Seen, after: Seen) -> frozenset[Effect]:
    """What is different, and not only because something else is."""
    found: set[Effect] = set()
    reshaped = before.shapes != after.shapes
    if reshaped:
        found.add(Effect.PARAMS)
    if not _same(before.initial, after.initial):
        found.add(Effect.INIT)
    retold = before.held_out != after.held_out
    if retold or any(a != b for a, b in zip(before.text, after.text, strict=False)):
        found.add(Effect.DATA)
    if not before.hidden.equal(after.hidden) or not (reshaped or retold or before.nll == after.nll):
        found.add(Effect.FORWARD)
    elif not reshaped and before.training_loss != after.training_loss:
        found.add(Effect.TRAIN_ONLY)
    if not _same(before.moved, after.moved) or len(before.text) != len(after.text):
        found.add(Effect.GRADIENT)
    if Effect.FORWARD not in found and not reshaped and not retold:
        same_training = _same(before.last, after.last)
        if before.translations != after.translations or (same_training and not _same(before.scored, after.scored)):
            found.add(Effect.DECODE)
    return frozenset(found)
