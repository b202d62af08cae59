"""Batched beam search over a cached decoder (paper section 6.1; Wu et al. 2016, section 7).

The beam of a sentence has K places. At each step the best K continuations of its live hypotheses, by
log-probability, take the places that are free; one that ends in the end token keeps its place for good. So a
beam of 1 is greedy search exactly, whatever the length penalty, and a sentence is over when every place has
ended.

It may be over sooner, when no live hypothesis can still win. A live hypothesis of log-probability s <= 0 can
only lose log-probability, and when it ends its score is at most s / lp, lp the greatest length penalty among
the lengths at which it may still end: the longest for alpha > 0, the next for alpha < 0. A sentence stops
once its best ended score is at least that bound for its best live hypothesis; on a tie the hypothesis that
ended first stays. The result is the one of searching to the cap. Division by a positive number is monotone
under rounding and log-softmax never exceeds 0, so the argument holds in floating point too.

The cap is a number of pieces, the end token not among them. A sentence where nothing has ended by then
returns its best live hypothesis, flagged as unfinished.

Shapes: B sentences still searched, K beams, V vocabulary, T longest output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from ablatable.data.tokenizers.special import BOS, EOS, PAD
from ablatable.decoding.model import MemoryT, SearchModel, StateT
from ablatable.decoding.penalty import LengthPenalty

_NONE = float("-inf")


@dataclass(frozen=True)
class Hypothesis:
    """One translation: ``ids`` without start, end and padding; ``score`` is log P / length penalty, in nats.

    ``finished`` is False where the cap came before the end token.
    """

    ids: list[int]
    score: float
    finished: bool


@torch.inference_mode()
def beam_search(
    model: SearchModel[MemoryT, StateT],
    source: Tensor,
    caps: Sequence[int],
    beam: int,
    penalty: LengthPenalty,
) -> list[Hypothesis]:
    """Translate one batch; the model must be in evaluation mode.

    Args:
        model: Called once per position for the whole batch.
        source: (B,S) int64, each row with its end token and padding 0.
        caps: Most pieces in the output of each sentence, the end token not counted; less where the model has
            fewer positions.
        beam: K >= 1.
        penalty: Ranks hypotheses of different lengths.

    Returns:
        The best hypothesis of each row, in order.
    """
    state = model.start(model.encode(source), max(caps) + 1)
    longest = min(max(caps) + 1, state.max_length)
    caps = [min(cap, longest - 1) for cap in caps]
    search = _Search(caps, beam, penalty, source.device)
    tokens = torch.full((len(caps), 1), BOS, dtype=torch.long, device=source.device)
    for step in range(1, longest + 1):
        parents = search.advance(_log_probabilities(model.logits(model.step(tokens, state))))
        if step == 1 and beam > 1:
            state.widen(beam)
        kept = search.retire()
        if not search.rows:
            break
        if kept is not None:
            state.select(kept)
            parents = parents[kept]
        if step > 1 and beam > 1:
            state.reorder(parents)
        tokens = search.last_tokens()
    return search.results()


def _log_probabilities(logits: Tensor) -> Tensor:
    """Return log P of each next token, (B,K,V), at least float32. Start and padding are never candidates.

    They are struck out after normalisation: a score is the model's own log-probability.
    """
    dtype = torch.promote_types(logits.dtype, torch.float32)
    log_probabilities = torch.log_softmax(logits, dim=-1, dtype=dtype)
    log_probabilities[..., PAD] = _NONE
    log_probabilities[..., BOS] = _NONE
    return log_probabilities


class _Search:
    """Live and ended hypotheses of the sentences still searched.

    ``scores (B,K)`` are the log-probabilities of live hypotheses, -inf in a place that is not live;
    ``tokens (B,K,T)`` is what they have produced; ``places (B,)`` is how many of the K places have not ended.
    Of the hypotheses that have ended the best is kept. Scores are float64 once they leave the model.
    """

    def __init__(self, caps: Sequence[int], beam: int, penalty: LengthPenalty, device: torch.device) -> None:
        sentences, longest = len(caps), max(caps) + 1
        self.beam = beam
        self.penalty = penalty
        self.step = 0
        self.rows: list[int] = list(range(sentences))
        self.caps: list[int] = list(caps)
        self.found: dict[int, Hypothesis] = {}
        self.capped = {row: Hypothesis([], 0.0, finished=False) for row, cap in enumerate(caps) if cap == 0}
        self.scores = torch.zeros(sentences, 1, dtype=torch.float64, device=device)
        self.tokens = torch.zeros(sentences, beam, longest, dtype=torch.long, device=device)
        self.places = torch.full((sentences,), beam, device=device)
        self.best_scores = torch.full((sentences,), _NONE, dtype=torch.float64, device=device)
        self.best_tokens = torch.zeros(sentences, longest, dtype=torch.long, device=device)
        self.best_steps = torch.zeros(sentences, dtype=torch.long, device=device)
        self.last_penalty = torch.tensor(
            [penalty.finished(cap + 1) for cap in caps], dtype=torch.float64, device=device
        )

    def advance(self, log_probabilities: Tensor) -> Tensor:
        """Take one step with (B,k,V), k = 1 at the first and K after it; return the parents, (B,K) int64."""
        self.step += 1
        rows, live, vocabulary = log_probabilities.shape
        candidates = log_probabilities.add_(self.scores[:, :, None]).view(rows, live * vocabulary)
        scores, index = _best(candidates, self.beam)
        rank = torch.arange(self.beam, device=scores.device)
        scores = scores.double().masked_fill(rank >= self.places[:, None], _NONE)
        parents, chosen = index // vocabulary, index % vocabulary
        if live > 1:
            past = self.tokens[:, :, : self.step - 1]
            self.tokens[:, :, : self.step - 1] = past.gather(1, parents[:, :, None].expand_as(past))
        self.tokens[:, :, self.step - 1] = chosen.masked_fill(scores == _NONE, EOS)
        ended = (chosen == EOS) & (scores > _NONE)
        self._keep_best_ended(scores.masked_fill(~ended, _NONE))
        self.places = self.places - ended.sum(dim=1)
        self.scores = scores.masked_fill(ended, _NONE)
        return parents

    def _keep_best_ended(self, log_probabilities: Tensor) -> None:
        """Keep the best of what ended at this step, (B,K), where it beats all that ended before."""
        best, place = log_probabilities.max(dim=1)
        scores = best / self.penalty.finished(self.step)
        better = scores > self.best_scores
        tokens = self.tokens[torch.arange(len(self.rows), device=place.device), place]
        self.best_scores = torch.where(better, scores, self.best_scores)
        self.best_tokens = torch.where(better[:, None], tokens, self.best_tokens)
        self.best_steps = self.best_steps.masked_fill(better, self.step)

    def retire(self) -> Tensor | None:
        """Settle the sentences that are over; return the places of the others, (M,), or None if all stay."""
        self._note_capped()
        next_penalty = self.penalty.finished(self.step + 1)
        reachable = self.scores.max(dim=1).values / self.last_penalty.clamp(min=next_penalty)
        won = cast("list[bool]", (self.best_scores >= reachable).tolist())
        over = [done or cap < self.step for done, cap in zip(won, self.caps, strict=True)]
        if not any(over):
            return None
        self._settle([place for place, done in enumerate(over) if done])
        kept = [place for place, done in enumerate(over) if not done]
        self.rows = [self.rows[place] for place in kept]
        self.caps = [self.caps[place] for place in kept]
        index = torch.tensor(kept, dtype=torch.long, device=self.scores.device)
        self.scores = self.scores[index]
        self.tokens = self.tokens[index]
        self.places = self.places[index]
        self.best_scores = self.best_scores[index]
        self.best_tokens = self.best_tokens[index]
        self.best_steps = self.best_steps[index]
        self.last_penalty = self.last_penalty[index]
        return index

    def _note_capped(self) -> None:
        """Remember the best live hypothesis of sentences at their cap: only the end token may follow it."""
        for place in (place for place, cap in enumerate(self.caps) if cap == self.step):
            score, k = self.scores[place].max(dim=0)
            self.capped[self.rows[place]] = Hypothesis(
                ids=cast("list[int]", self.tokens[place, int(k), : self.step].tolist()),
                score=float(score) / self.penalty.unfinished(self.step),
                finished=False,
            )

    def _settle(self, places: list[int]) -> None:
        """Write down the results of sentences that are over."""
        scores = cast("list[float]", self.best_scores[places].tolist())
        tokens = cast("list[list[int]]", self.best_tokens[places].tolist())
        steps = cast("list[int]", self.best_steps[places].tolist())
        for place, score, ids, step in zip(places, scores, tokens, steps, strict=True):
            row = self.rows[place]
            if step > 0:
                self.found[row] = Hypothesis(ids[: step - 1], score, finished=True)
            else:
                self.found[row] = self.capped.get(row, Hypothesis([], _NONE, finished=False))

    def last_tokens(self) -> Tensor:
        """What the model reads next, (B,K)."""
        return self.tokens[:, :, self.step - 1].contiguous()

    def results(self) -> list[Hypothesis]:
        """The best hypothesis of every sentence, in the order given."""
        return [self.found[row] for row in range(len(self.found))]


def _best(candidates: Tensor, beam: int) -> tuple[Tensor, Tensor]:
    """The ``beam`` best of (B,N) and their indices, best first; -inf fills up where N is smaller."""
    if beam == 1:
        best = candidates.max(dim=1, keepdim=True)
        return best.values, best.indices
    scores, index = candidates.topk(min(beam, candidates.shape[1]), dim=1)
    missing = beam - scores.shape[1]
    if missing:
        scores = torch.nn.functional.pad(scores, (0, missing), value=_NONE)
        index = torch.nn.functional.pad(index, (0, missing))
    return scores, index
