"""Translate any number of sentences: batches of similar length, results in the order given."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ablatable.config.decoding import Decoding
from ablatable.data.tokenizers.protocol import Tokenizer
from ablatable.data.tokenizers.special import EOS, PAD
from ablatable.decoding.beam import Hypothesis, beam_search
from ablatable.decoding.model import MemoryT, StateT, TranslationModel
from ablatable.decoding.penalty import LengthPenalty

Ids = Sequence[int] | NDArray[np.integer]
Progress = Callable[[int, int], None]

BATCH_TOKENS = 8192
"""Source positions times beams in one batch: a third of the paper's training batch on the source side."""

BATCH_HYPOTHESES = 512
"""Hypotheses in one batch, however short: times the vocabulary, the largest tensor of a step."""


def translate(
    model: TranslationModel[MemoryT, StateT],
    sources: Sequence[Ids],
    decode: Decoding,
    progress: Progress | None = None,
    precision: Literal["fp32", "bf16"] = "fp32",
    batch_tokens: int = BATCH_TOKENS,
) -> list[Hypothesis]:
    """Return the best hypothesis of every source sentence.

    The result of a sentence does not depend on the others. The model is put in evaluation mode meanwhile.

    Args:
        model: The cached decoder; its output weight says on which device to search.
        sources: Piece ids of each sentence, without start and end tokens.
        decode: Beam, length penalty and the cap: source pieces + ``extra_tokens`` pieces.
        progress: Called with (sentences done, sentences in all) after each batch.
        precision: ``bf16`` runs the model under autocast; scores are float32 or better in any case.
        batch_tokens: Most source positions times beams in a batch (one sentence may exceed it).
    """
    penalty = LengthPenalty(decode.length_penalty, decode.length_counts_eos)
    device = model.output_weight.device
    results: list[Hypothesis | None] = [None] * len(sources)
    done = 0
    with _evaluating(model):
        for batch in length_batches([len(ids) for ids in sources], decode.beam, batch_tokens):
            rows = [sources[i] for i in batch]
            caps = [len(ids) + decode.extra_tokens for ids in rows]
            with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
                found = beam_search(model, _pad(rows).to(device), caps, decode.beam, penalty)
            for i, hypothesis in zip(batch, found, strict=True):
                results[i] = hypothesis
            done += len(batch)
            if progress is not None:
                progress(done, len(sources))
    return [hypothesis for hypothesis in results if hypothesis is not None]


def translate_lines(
    model: TranslationModel[MemoryT, StateT],
    lines: Sequence[str],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    decode: Decoding,
    progress: Progress | None = None,
    precision: Literal["fp32", "bf16"] = "fp32",
) -> list[str]:
    """Translate text to text, one line each; a blank line gives an empty line."""
    sources = source_tokenizer.encode_lines(lines)
    spoken = [i for i, ids in enumerate(sources) if ids and lines[i].strip()]
    found = translate(model, [sources[i] for i in spoken], decode, progress, precision)
    texts = [""] * len(lines)
    for i, hypothesis in zip(spoken, found, strict=True):
        texts[i] = one_line(hypothesis, target_tokenizer)
    return texts


def one_line(hypothesis: Hypothesis, tokenizer: Tokenizer) -> str:
    """The text of a translation. A piece may stand for a line break; it becomes a space, so that lines keep their
    numbers.
    """
    return tokenizer.decode(hypothesis.ids).replace("\n", " ")


def length_batches(lengths: Sequence[int], beam: int, batch_tokens: int) -> Iterator[list[int]]:
    """Yield the indices of batches of similar length, longest first: running out of memory shows at once.

    Each index comes once; a batch costs sentences x beam x (longest length + 1 for the end token).
    """
    batch: list[int] = []
    width = 0
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        width = width or lengths[i] + 1
        hypotheses = (len(batch) + 1) * beam
        if batch and (hypotheses * width > batch_tokens or hypotheses > BATCH_HYPOTHESES):
            yield batch
            batch, width = [], lengths[i] + 1
        batch.append(i)
    if batch:
        yield batch


def _pad(rows: Sequence[Ids]) -> Tensor:
    """(B,S) int64: each row, its end token, padding."""
    padded = np.full((len(rows), max(len(ids) for ids in rows) + 1), PAD, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
        row[len(ids)] = EOS
    return torch.from_numpy(padded)


@contextmanager
def _evaluating(model: TranslationModel[MemoryT, StateT]) -> Generator[None]:
    """Evaluation mode inside, the mode it was in before outside."""
    was_training = model.training
    model.train(False)
    try:
        yield
    finally:
        model.train(was_training)
