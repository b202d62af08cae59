"""The attention of every head of a run in one sentence, as the network computes it while it reads the target at once.

That is training's pass, and with a causal mask its weights are those of translating piece by piece. Without one
(``model.causal=false``) each position sees the pieces after it, which no translation does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import torch

from ablatable.analysis.attention.statistics import HeadStatistics, even, statistics
from ablatable.analysis.runs import experiment_of, load
from ablatable.data.dataset import prepare
from ablatable.data.tokenizers.protocol import Tokenizer
from ablatable.data.tokenizers.special import BOS, EOS
from ablatable.decoding.translate import translate
from ablatable.errors import InputError
from ablatable.nn.network import AnyNetwork
from ablatable.nn.recorder import KINDS, Attended, Kind, recording

if TYPE_CHECKING:
    from ablatable.training.load import LoadedRun

LONGEST = 64
"""Positions on a side that a picture can still label, marks counted."""

Origin = Literal["the run's own translation", "the reference", "given"]
_OWN: Origin = "the run's own translation"


@dataclass(frozen=True)
class Head:
    """One head's weights, a row a query and a column a key, with its statistics."""

    layer: int
    head: int
    statistics: HeadStatistics
    weights: list[list[float]]


@dataclass(frozen=True)
class AttentionMaps:
    """All heads of one attention. ``even`` are the statistics of weights that are the same for every visible key.

    ``queries`` and ``keys`` name the rows and the columns. Those of the decoder's self-attention are the pieces it
    reads; a row of cross-attention is named by the piece that comes next, which it helps to predict.
    """

    kind: Kind
    queries: list[str]
    keys: list[str]
    even: HeadStatistics
    heads: list[Head]


@dataclass(frozen=True)
class SentenceAttention:
    """Everything one sentence shows of a run; ``origin`` says where the target comes from."""

    run: str
    source: str
    target: str
    origin: Origin
    causal: bool
    maps: list[AttentionMaps]


@dataclass(frozen=True)
class Sentence:
    """A source text and the target to read: None, the run's own translation."""

    source: str
    target: str | None
    origin: Origin


def given(source: str, target: str | None) -> Sentence:
    """A sentence by its text."""
    return Sentence(source, target, _OWN if target is None else "given")


def of_index(folder: Path, cache: Path, index: int, target: str | None, reference: bool) -> Sentence:
    """Development sentence ``index``, counted from 1, with a target as given, or the corpus' own (``reference``).

    Raises:
        InputError: there is none of that number.
    """
    data = prepare(experiment_of(folder), cache)
    sources = data.sources("valid")
    if index > len(sources):
        raise InputError(
            f"--index {index}: the development text of {data.corpus.name} has {len(sources)} sentences; "
            "name one of them"
        )
    if reference:
        return Sentence(sources[index - 1], data.references("valid")[index - 1], "the reference")
    return given(sources[index - 1], target)


def measure(folder: Path, cache: Path, sentence: Sentence) -> SentenceAttention:
    """Let a run read a sentence and its target.

    Raises:
        InputError: the sentence is empty, or it or its target is too long for a picture or for the run's positions.
    """
    run = load(folder, cache)
    source = _encoded(run.source_tokenizer, sentence.source, "sentence")
    if sentence.target is None:
        target = _translated(run, source)
    else:
        target = _encoded(run.target_tokenizer, sentence.target, "target")
    maps = _maps(run.model, source, target, pieces(run.source_tokenizer), pieces(run.target_tokenizer))
    text = run.target_tokenizer.decode(target) if sentence.target is None else sentence.target
    return SentenceAttention(folder.name, sentence.source, text, sentence.origin, run.experiment.model.causal, maps)


def pieces(tokenizer: Tokenizer) -> list[str]:
    """What each id of a vocabulary is called; what cannot be seen is made visible."""
    return [piece.replace(" ", "␣") if piece.isprintable() else ascii(piece)[1:-1] for piece in tokenizer.pieces()]


def _encoded(tokenizer: Tokenizer, text: str, what: str) -> list[int]:
    ids = tokenizer.encode(text) if text.strip() else []
    if not ids:
        raise InputError(f"the {what} is empty; give it some text")
    if len(ids) + 1 > LONGEST:
        raise InputError(
            f"the {what} has {len(ids)} pieces and a picture has room for {LONGEST - 1}; choose a shorter one"
        )
    return ids


def _translated(run: LoadedRun, source: list[int]) -> list[int]:
    experiment = run.experiment
    (found,) = translate(run.model, [source], experiment.decode, precision=experiment.train.precision)
    ids = list(found.ids)
    if len(ids) + 1 > LONGEST:
        raise InputError(
            f"the run's translation has {len(ids)} pieces and a picture has room for {LONGEST - 1}; choose a shorter "
            "sentence, or a target with --target"
        )
    return ids


@torch.inference_mode()
def _maps(
    network: AnyNetwork, source: list[int], target: list[int], source_pieces: list[str], target_pieces: list[str]
) -> list[AttentionMaps]:
    with recording(network) as seen:
        network.decode(torch.tensor([[BOS, *target]]), network.encode(torch.tensor([[*source, EOS]])))
    read = [source_pieces[id] for id in (*source, EOS)]
    written = [target_pieces[id] for id in (BOS, *target, EOS)]
    names: dict[Kind, tuple[list[str], list[str]]] = {
        "encoder-self": (read, read),
        "decoder-self": (written[:-1], written[:-1]),
        "cross": (written[1:], read),
    }
    made: list[AttentionMaps] = []
    for kind in KINDS:
        calls = [call for call in seen if call.kind == kind]
        if calls:
            made.append(_kind(kind, *names[kind], calls))
    return made


def _kind(kind: Kind, queries: list[str], keys: list[str], calls: list[Attended]) -> AttentionMaps:
    visible_TS = calls[0].visible()[0]
    heads: list[Head] = []
    for call in calls:
        weights_HTS = call.weights()[0]
        for number, head in enumerate(statistics(weights_HTS, visible_TS, kind)):
            rows = cast(Any, weights_HTS[number]).tolist()
            heads.append(Head(call.layer, number + 1, head, rows))
    (evenly,) = statistics(even(visible_TS)[None], visible_TS, kind)
    return AttentionMaps(kind, queries, keys, evenly, heads)
