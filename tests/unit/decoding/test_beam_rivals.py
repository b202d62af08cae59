"""The same search over every rival: cached as recomputed, whatever the neighbours, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from search_oracle import slow_beam

from ablatable.config.decoding import Decoding
from ablatable.config.model import Model
from ablatable.data.tokenizers.special import BOS, EOS
from ablatable.decoding.beam import Hypothesis
from ablatable.decoding.penalty import LengthPenalty
from ablatable.decoding.translate import translate
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork

VOCABULARY = 11
KINDS: list[dict[str, object]] = [
    {"architecture": "rnn"},
    {"architecture": "rnn", "rnn_cell": "gru", "rnn_attention": "none"},
    {"architecture": "convolutional"},
    {"architecture": "bag", "bag": "average", "bag_window": 3},
    {"architecture": "bag"},
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def _peaked(kind: dict[str, object]) -> AnyNetwork:
    """A small untrained network whose distributions are peaked enough that hypotheses end."""
    model = build_model(Model(layers=2, d_model=16, rival_width=16, tying="none", **kind), VOCABULARY, VOCABULARY, 1)
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i)), alpha=0.4)
        model.output_weight.mul_(5.0)
    return model.double().eval()


def _sources(count: int) -> list[list[int]]:
    rng = np.random.default_rng(3)
    return [rng.integers(4, VOCABULARY, size=rng.integers(1, 8)).tolist() for _ in range(count)]


def _recomputed(model: AnyNetwork, sources: list[list[int]], decode: Decoding) -> list[Hypothesis]:
    """One sentence at a time, the decoder run over the whole prefix at each step."""

    @torch.no_grad()
    def next_log_probs(key: int, prefix: tuple[int, ...]):
        memory = model.encode(torch.tensor([[*sources[key], EOS]]))
        hidden = model.decode(torch.tensor([[BOS, *prefix]]), memory)
        return model.logits(hidden)[0, -1].log_softmax(-1).numpy()

    penalty = LengthPenalty(decode.length_penalty, decode.length_counts_eos)
    return [
        Hypothesis(*slow_beam(next_log_probs, key, len(source) + decode.extra_tokens, decode.beam, penalty))
        for key, source in enumerate(sources)
    ]


@pytest.mark.parametrize("beam", [1, 4])
@every_kind
def test_dec_05_cached_search_is_uncached_search(kind: dict[str, object], beam: int) -> None:
    model, sources, decode = _peaked(kind), _sources(6), Decoding(beam=beam, extra_tokens=4)
    found, expected = translate(model, sources, decode), _recomputed(model, sources, decode)
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-9)
    assert [h.finished for h in found] == [h.finished for h in expected]
    assert len({tuple(h.ids) for h in found}) > 1


@every_kind
def test_dec_06_neighbours_change_nothing_and_the_search_repeats_itself(kind: dict[str, object]) -> None:
    model, sources, decode = _peaked(kind), _sources(10), Decoding(beam=3, extra_tokens=6)
    together = translate(model, sources, decode)
    assert translate(model, sources, decode) == together
    alone = [translate(model, [source], decode)[0] for source in sources]
    assert [h.ids for h in together] == [h.ids for h in alone]
    assert [h.score for h in together] == pytest.approx([h.score for h in alone], abs=1e-9)


@every_kind
def test_bf16_runs(kind: dict[str, object]) -> None:
    found = translate(_peaked(kind).float(), _sources(4), Decoding(beam=3, extra_tokens=4), precision="bf16")
    assert all(np.isfinite(h.score) for h in found)
