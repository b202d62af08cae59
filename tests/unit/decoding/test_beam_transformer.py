"""The cached search over a real Transformer against the same search with everything recomputed (DEC-05)."""

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
from ablatable.nn.transformer import Transformer

VOCABULARY = 11


def peaked_model(position: str = "sinusoidal", seed: int = 1, **changes: object) -> Transformer:
    """A small untrained Transformer whose distributions are peaked enough that hypotheses end."""
    config = Model(layers=2, d_model=16, d_ff=32, heads=2, position=position, tying="none", **changes)
    model = build_model(config, VOCABULARY, VOCABULARY, seed)
    with torch.no_grad():
        model.output_weight.mul_(4.0)
    return model.eval()


def some_sources(count: int = 9, seed: int = 0) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(4, VOCABULARY, size=rng.integers(1, 8)).tolist() for _ in range(count)]


def recomputed(model: Transformer, sources: list[list[int]], decode: Decoding) -> list[Hypothesis]:
    """One sentence at a time, the decoder run over the whole prefix at each step."""

    @torch.no_grad()
    def next_log_probs(key: int, prefix: tuple[int, ...]):
        memory = model.encode(torch.tensor([[*sources[key], EOS]]))
        hidden = model.decode(torch.tensor([[BOS, *prefix]]), memory)
        return model.logits(hidden)[0, -1].double().log_softmax(-1).numpy()

    penalty = LengthPenalty(decode.length_penalty, decode.length_counts_eos)
    return [
        Hypothesis(*slow_beam(next_log_probs, key, len(source) + decode.extra_tokens, decode.beam, penalty))
        for key, source in enumerate(sources)
    ]


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize("beam", [1, 4])
def test_dec_05_cached_search_is_uncached_search(position, beam):
    model = peaked_model(position)
    decode = Decoding(beam=beam, extra_tokens=6)
    sources = some_sources()
    found = translate(model, sources, decode)
    expected = recomputed(model, sources, decode)
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-5)
    assert [h.finished for h in found] == [h.finished for h in expected]
    assert any(h.finished for h in found)
    assert len({tuple(h.ids) for h in found}) > 1


def test_dec_05_key_and_value_sizes_of_their_own():
    model = peaked_model(d_k=5, d_v=3, attention_bias=False).double()
    decode = Decoding(beam=3, extra_tokens=6, length_penalty=1.0, length_counts_eos=False)
    found = translate(model, some_sources(seed=2), decode)
    expected = recomputed(model, some_sources(seed=2), decode)
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-10)


@pytest.mark.parametrize("beam", [1, 4])
def test_dec_06_neighbours_and_padding_change_nothing(beam):
    model = peaked_model().double()
    sources = some_sources(12, seed=3)
    decode = Decoding(beam=beam, extra_tokens=6)
    together = translate(model, sources, decode)
    alone = [translate(model, [source], decode)[0] for source in sources]
    assert [h.ids for h in together] == [h.ids for h in alone]
    assert [h.score for h in together] == pytest.approx([h.score for h in alone], abs=1e-10)


def test_learned_positions_end_the_search_in_time():
    model = peaked_model("learned", position_max=9)
    with torch.no_grad():
        model.output_weight[EOS] = -10 * model.output_weight.abs().max()
    found = translate(model, [[4, 5, 6]], Decoding(beam=2, extra_tokens=50))
    assert len(found[0].ids) <= 8


def test_bf16_runs_and_keeps_wide_scores():
    """Rounding moves the model's numbers, not the arithmetic of the search."""
    model = peaked_model()
    sources = some_sources(4)
    exact = translate(model, sources, Decoding(beam=4, extra_tokens=6))
    rough = translate(model, sources, Decoding(beam=4, extra_tokens=6), precision="bf16")
    assert [h.score for h in rough] == pytest.approx([h.score for h in exact], rel=0.02)
    assert any(h.score != float(torch.tensor(h.score).bfloat16()) for h in rough)


def test_the_model_comes_back_as_it_was():
    model = peaked_model().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    translate(model, some_sources(2), Decoding(beam=2, extra_tokens=2))
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(parameter.is_inference() for parameter in model.parameters())


def test_a_table_grown_while_translating_still_trains():
    """Sinusoids beyond the first 512 rows are made under inference mode; training goes on with them."""
    model = peaked_model()
    translate(model, [[4] * 600], Decoding(beam=1, extra_tokens=0))
    model.train()
    source = torch.full((1, 600), 5)
    model(source, source).logsumexp(-1).sum().backward()
    assert model.output_weight.grad is not None


@pytest.mark.device
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("beam", [1, 4])
def test_cuda_finds_what_the_cpu_finds(beam):
    sources = some_sources(20)
    decode = Decoding(beam=beam, extra_tokens=6)
    expected = translate(peaked_model().double(), sources, decode)
    found = translate(peaked_model().double().cuda(), sources, decode)
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-9)
    rough = translate(peaked_model().cuda(), sources, decode, precision="bf16")
    assert all(np.isfinite(h.score) for h in rough)
