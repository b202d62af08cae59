"""Models small enough to search exhaustively, and the search written again with lists and no early stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
from torch import Tensor

from ablatable.data.tokenizers.special import BOS, EOS, PAD
from ablatable.decoding.penalty import LengthPenalty

A, B = 4, 5
Prefix = tuple[int, ...]
NextLogProbs = Callable[[int, Prefix], "np.ndarray[tuple[int], np.dtype[np.float64]]"]
"""(first source piece, output so far) -> log P of each next token."""


class TableState:
    """The cache is the whole token history of each hypothesis, so that a wrong reorder changes the result."""

    def __init__(self, keys: list[int], max_length: int) -> None:
        self.keys = keys
        self.max_length = max_length
        self.history: list[list[Prefix]] = [[()] for _ in keys]

    def widen(self, beams: int) -> None:
        assert all(len(beam) == 1 for beam in self.history)
        self.history = [beam * beams for beam in self.history]

    def reorder(self, parents: Tensor) -> None:
        assert parents.shape == (len(self.history), len(self.history[0]))
        self.history = [[beam[k] for k in row] for beam, row in zip(self.history, parents.tolist(), strict=True)]

    def select(self, sentences: Tensor) -> None:
        self.history = [self.history[i] for i in sentences.tolist()]
        self.keys = [self.keys[i] for i in sentences.tolist()]


@dataclass
class TableModel:
    """A model given by its next-token distribution; ``fed`` counts hypotheses advanced per sentence key."""

    next_log_probs: NextLogProbs
    training: bool = True
    positions: int = 10_000
    fed: dict[int, int] = field(default_factory=dict)
    output_weight: Tensor = field(default_factory=lambda: torch.zeros(1, 1))
    modes: list[bool] = field(default_factory=list)

    def train(self, mode: bool = True) -> None:
        self.training = mode
        self.modes.append(mode)

    def encode(self, source: Tensor) -> list[int]:
        assert all(row[-1] == EOS for row in ([t for t in row if t != PAD] for row in source.tolist()))
        return source[:, 0].tolist()

    def start(self, memory: list[int], max_length: int) -> TableState:
        return TableState(list(memory), min(max_length, self.positions))

    def step(self, tokens: Tensor, state: TableState) -> Tensor:
        assert tokens.shape == (len(state.history), len(state.history[0]))
        rows = tokens.tolist()
        state.history = [
            [(*prefix, token) for prefix, token in zip(beam, row, strict=True)]
            for beam, row in zip(state.history, rows, strict=True)
        ]
        for key in state.keys:
            self.fed[key] = self.fed.get(key, 0) + 1
        assert all(prefix[0] == BOS and BOS not in prefix[1:] for beam in state.history for prefix in beam)
        assert len(state.history[0][0]) <= state.max_length
        table = [
            [self.next_log_probs(key, prefix[1:]) for prefix in beam]
            for key, beam in zip(state.keys, state.history, strict=True)
        ]
        return torch.tensor(np.array(table))

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden


def distribution(eos: float, *pieces: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Log-probabilities over pad, unk, bos, eos and the pieces; what is missing to 1 goes to no one."""
    with np.errstate(divide="ignore"):
        return np.log(np.array([0.0, 0.0, 0.0, eos, *pieces]))


def random_table(seed: int, vocabulary: int, sharpness: float = 2.0) -> NextLogProbs:
    """A distribution over everything but pad and bos, drawn anew for each source and prefix."""

    @cache
    def next_log_probs(key: int, prefix: Prefix) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        rng = np.random.default_rng([seed, key, *prefix])
        weights = np.exp(sharpness * rng.standard_normal(vocabulary))
        with np.errstate(divide="ignore"):
            return np.log(weights / weights.sum())

    return next_log_probs


def all_endings(model: NextLogProbs, key: int, cap: int) -> Iterator[tuple[Prefix, float]]:
    """Every output of at most ``cap`` pieces that ends, with its log-probability."""
    stack: list[tuple[Prefix, float]] = [((), 0.0)]
    while stack:
        prefix, log_prob = stack.pop()
        following = model(key, prefix)
        yield prefix, log_prob + float(following[EOS])
        if len(prefix) < cap:
            pieces = [t for t in range(len(following)) if t not in (PAD, BOS, EOS)]
            stack += [((*prefix, t), log_prob + float(following[t])) for t in pieces]


def best_ending(model: NextLogProbs, key: int, cap: int, penalty: LengthPenalty) -> tuple[list[int], float]:
    """The best output of all, by enumeration."""
    scored = [(s / penalty.finished(len(ids) + 1), ids) for ids, s in all_endings(model, key, cap)]
    score, ids = max(scored)
    return list(ids), score


def slow_beam(
    model: NextLogProbs, key: int, cap: int, beam: int, penalty: LengthPenalty
) -> tuple[list[int], float, bool]:
    """Beam search of one sentence with lists, recomputing everything, to the cap."""
    live: list[tuple[float, Prefix]] = [(0.0, ())]
    ended: list[tuple[float, Prefix]] = []
    capped = live[0]
    for step in range(1, cap + 2):
        candidates = [
            (log_prob + float(following), (*prefix, token))
            for log_prob, prefix in live
            for token, following in enumerate(model(key, prefix))
            if token not in (PAD, BOS) and following > -math.inf
        ]
        candidates.sort(key=lambda candidate: -candidate[0])
        chosen = candidates[: beam - len(ended)]
        ended += [(s / penalty.finished(step), ids[:-1]) for s, ids in chosen if ids[-1] == EOS]
        live = [(s, ids) for s, ids in chosen if ids[-1] != EOS]
        if not live:
            break
        if step == cap:
            capped = live[0]
    if ended:
        score, ids = max(ended, key=lambda hypothesis: hypothesis[0])
        return list(ids), score, True
    return list(capped[1]), capped[0] / penalty.unfinished(len(capped[1])), False


def greedy(model: NextLogProbs, key: int, cap: int) -> tuple[list[int], float, bool]:
    """Always the most likely token; ids, log-probability and whether it ended."""
    ids: list[int] = []
    log_prob = 0.0
    while True:
        following = model(key, tuple(ids)).copy()
        following[[PAD, BOS]] = -math.inf
        token = int(following.argmax())
        if token == EOS:
            return ids, log_prob + float(following[EOS]), True
        if len(ids) == cap:
            return ids, log_prob, False
        log_prob += float(following[token])
        ids.append(token)
