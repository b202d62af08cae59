"""`ablatable analyse positions`: what there is to measure of the kinds of positions, or of those of one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from torch import nn

from ablatable.analysis.positions.encodings import Encodings, Similarity, encodings, similarity
from ablatable.analysis.positions.relative import (
    Biases,
    Buckets,
    Decay,
    Vectors,
    biases,
    buckets,
    decay,
    vectors,
)
from ablatable.analysis.positions.rotation import Rotation
from ablatable.analysis.positions.rotation import measure as rotation
from ablatable.analysis.runs import load
from ablatable.config.model import Model
from ablatable.config.schema import Experiment
from ablatable.nn.attention import SelfAttention
from ablatable.nn.network import AnyNetwork
from ablatable.nn.positions import SinusoidalPositions
from ablatable.nn.relative.shaw import RelativeVectors

_STACKS = {"source_input": "encoder", "target_input": "decoder"}


@dataclass(frozen=True)
class PositionsAnalysis:
    """What was measured; a list is empty where it does not apply. ``run`` is None where no run was named."""

    run: str | None
    positions: int
    similarities: list[Similarity] = field(default_factory=list[Similarity])
    rotations: list[Rotation] = field(default_factory=list[Rotation])
    decays: list[Decay] = field(default_factory=list[Decay])
    biases: list[Biases] = field(default_factory=list[Biases])
    buckets: list[Buckets] = field(default_factory=list[Buckets])
    vectors: list[Vectors] = field(default_factory=list[Vectors])


def of_kinds(count: int, seed: int) -> tuple[PositionsAnalysis, list[Encodings]]:
    """The kinds that need no training, for the paper's base model, over ``count`` positions."""
    base = Model()
    sinusoids = [replace(base, position_layout=layout) for layout in ("interleaved", "halves")]
    tables = [_sinusoids(model, count) for model in sinusoids]
    slopes, t5 = replace(base, position="alibi"), replace(base, position="t5")
    made = PositionsAnalysis(
        None,
        count,
        similarities=[similarity(one) for one in tables],
        rotations=[rotation(model) for model in sinusoids],
        decays=[decay(replace(base, position="rope"), count - 1, seed)],
        biases=[_fixed_slopes(slopes, count)],
        buckets=[buckets(t5, stack, count - 1, causal=stack == "decoder") for stack in ("encoder", "decoder")],
    )
    return made, tables


def of_run(folder: Path, cache: Path, count: int, seed: int) -> tuple[PositionsAnalysis, list[Encodings]]:
    """The positions of a run's model with its trained weights, over ``count`` positions.

    Where each position, or distance, has a trained number of its own, over those that training reached.
    """
    run = load(folder, cache)
    model = run.experiment.model
    if model.position in ("learned", "t5"):
        count = min(count, trained_positions(run.experiment))
    if model.position == "sinusoidal" and model.position_combine == "add":
        tables = [_sinusoids(model, count)]
        made = PositionsAnalysis(folder.name, count, rotations=[rotation(model)])
    else:
        tables = _tables(run.model, model, count)
        made = PositionsAnalysis(folder.name, count)
    made = replace(made, similarities=[similarity(one) for one in tables])
    if model.position == "rope":
        made = replace(made, decays=[decay(model, count - 1, seed)])
    if model.position in ("alibi", "t5"):
        made = replace(made, biases=list(_biases(run.model, model, count)))
    if model.position == "shaw":
        made = replace(made, vectors=list(_vectors(run.model, model)))
    return made, tables


def trained_positions(experiment: Experiment) -> int:
    """Positions that any training sentence may have, its mark counted: no row after them is ever trained."""
    return experiment.data.max_length + 1


def _sinusoids(model: Model, count: int) -> Encodings:
    table = encodings(SinusoidalPositions.of(model), count, model.d_model)
    return Encodings(f"sinusoidal, {model.position_layout}", None, table)


def _tables(network: AnyNetwork, model: Model, count: int) -> list[Encodings]:
    """What meets the embeddings of each stack; nothing of a relative kind."""
    if model.position not in ("sinusoidal", "learned", "index"):
        return []
    inputs = {stack: cast("nn.Module | None", getattr(network, name)) for name, stack in _STACKS.items()}
    name = model.position if model.position_combine == "add" else f"{model.position}, concatenated"
    return [
        Encodings(name, stack, encodings(cast(nn.Module, part.positions), count, model.d_model))
        for stack, part in inputs.items()
        if part is not None
    ]


def _fixed_slopes(model: Model, count: int) -> Biases:
    from ablatable.nn.relative.alibi import LinearBiases

    relative = LinearBiases.of(model, causal=False)
    return biases("alibi", relative, "encoder", model.heads, count - 1, causal=False)


def _self_attentions(network: AnyNetwork) -> list[tuple[str, int, SelfAttention]]:
    """Of each stack and layer, from 1."""
    found: list[tuple[str, int, SelfAttention]] = []
    for name, part in cast(Iterator[tuple[str, nn.Module]], network.named_modules()):
        if isinstance(part, SelfAttention):
            stack, _, layer, _ = name.split(".")
            found.append((stack, int(layer) + 1, part))
    return found


def _biases(network: AnyNetwork, model: Model, count: int) -> list[Biases]:
    """One instance serves a stack, so its first layer speaks for all."""
    return [
        biases(model.position, part.relative, stack, model.heads, count - 1, stack == "decoder" and model.causal)
        for stack, layer, part in _self_attentions(network)
        if layer == 1 and part.relative is not None
    ]


def _vectors(network: AnyNetwork, model: Model) -> list[Vectors]:
    return [
        vectors(part.relative, stack, layer, stack == "decoder" and model.causal)
        for stack, layer, part in _self_attentions(network)
        if isinstance(part.relative, RelativeVectors)
    ]
