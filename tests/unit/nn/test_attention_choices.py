"""What attention sees and drops, through the whole model: windows, the future, the source, weight dropout, stepping."""

from dataclasses import replace

import pytest
import torch
from decoding_laws import disturbed, random_tokens, steps_equal_the_full_pass
from torch import Tensor

from ablatable.config.model import Model
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.cost import training_flops
from ablatable.nn.count import parameter_count
from ablatable.nn.masks import within
from ablatable.nn.scores import SCALES, ProductScore
from ablatable.nn.transformer import Transformer

SMALL = Model(layers=2, d_model=16, d_ff=24, heads=2)
SOURCE = torch.tensor([[5, 6, 7, 8, 9], [9, 10, 0, 0, 0], [11, 12, 13, 4, 0]])
CHOICES = [
    {"score": "additive"},
    {"score": "cosine"},
    {"score_scale": "learned"},
    {"window": 3},
    {"window": 5, "score": "additive"},
    {"cross_attention": False},
    {"cross_attention": False, "tying": "none", "window": 3},
    {"dropout_attention": 0.3},
    *({"position": position, "window": 5} for position in ("rope", "alibi", "shaw", "t5")),
    {"position": "rope", "score": "cosine"},
    {"position": "t5", "score": "additive"},
]


def _model(**changes: object) -> Transformer:
    model = disturbed(replace(SMALL, **changes))
    assert isinstance(model, Transformer)
    return model


@pytest.mark.parametrize("changes", CHOICES, ids=str)
@torch.no_grad()
def test_pos_15_a_cached_step_equals_the_full_forward(changes: dict[str, object]) -> None:
    steps_equal_the_full_pass(_model(**changes), SOURCE, 9)


@pytest.mark.parametrize("changes", CHOICES, ids=str)
def test_mask_03_causality(changes: dict[str, object]) -> None:
    """A changed future token leaves the past bitwise equal."""
    model = _model(**changes)
    target = random_tokens(3, 7)
    changed = target.clone()
    changed[:, 4] = (changed[:, 4] - 4 + 5) % 16 + 4
    before, after = model(SOURCE, target), model(SOURCE, changed)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.equal(before[:, 4], after[:, 4])


@pytest.mark.parametrize("changes", CHOICES, ids=str)
def test_padding_changes_nothing_and_a_sentence_of_padding_is_harmless(changes: dict[str, object]) -> None:
    model = _model(**changes)
    target = random_tokens(3, 4)
    pad = torch.zeros(3, 2, dtype=torch.long)
    padded = model(torch.cat((SOURCE, pad), 1), torch.cat((target, pad), 1))[:, :4]
    torch.testing.assert_close(padded, model(SOURCE, target), atol=1e-5, rtol=0)
    empty = torch.cat((SOURCE, torch.zeros(1, 5, dtype=torch.long)))
    logits = model.train()(empty, torch.cat((target, pad[:1].expand(1, 2).repeat(1, 2))))
    logits[:3].sum().backward()
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("changes", CHOICES, ids=str)
def test_bfloat16_autocast_trains(changes: dict[str, object]) -> None:
    model = _model(**changes)
    target = random_tokens(3, 4)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        rounded = model(SOURCE, target).float()
    with torch.no_grad():
        torch.testing.assert_close(rounded, model(SOURCE, target), atol=0.15, rtol=0.05)
    with torch.autocast("cpu", torch.bfloat16):
        loss = model.train()(SOURCE, target).float().square().mean()
    loss.backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())


class TestCount:
    @pytest.mark.parametrize(
        "changes",
        [
            *({"score_scale": scale, "d_k": 3} for scale in SCALES),
            {"score": "cosine", "d_v": 3},
            {"score": "additive", "d_k": 3, "attention_bias": False},
            *({"cross_attention": False, "tying": tying} for tying in ("three-way", "decoder", "none")),
            *({"cross_attention": False, "position": position} for position in ("learned", "shaw", "t5")),
            {"cross_attention": False, "norm_placement": "pre", "score": "additive"},
        ],
        ids=str,
    )
    def test_the_closed_form_counts_the_built_model(self, changes: dict[str, object]) -> None:
        config = replace(SMALL, **changes)
        built = build_model(config, 20, 20, seed=1)
        assert sum(p.numel() for p in built.parameters()) == parameter_count(config, 20, 20)

    def test_what_a_score_adds_to_the_base(self) -> None:
        base = parameter_count(SMALL, 20, 20)
        sublayers = 3 * SMALL.layers
        assert parameter_count(replace(SMALL, score="cosine"), 20, 20) == base + sublayers
        assert parameter_count(replace(SMALL, score_scale="learned"), 20, 20) == base + sublayers
        assert parameter_count(replace(SMALL, score="additive"), 20, 20) == base + sublayers * 16

    def test_a_window_and_a_score_cost_what_all_of_it_costs(self) -> None:
        """Scores outside a window are computed and thrown away."""
        base = training_flops(SMALL, 20, 1e3, 1e3)
        for change in ({"window": 3}, {"score": "additive"}, {"score": "cosine"}, {"dropout_attention": 0.1}):
            assert training_flops(replace(SMALL, **change), 20, 1e3, 1e3) == base


class TestWindow:
    @pytest.mark.parametrize("causal", [True, False])
    @pytest.mark.parametrize("window", [3, 5, 7])
    def test_what_is_seen(self, window: int, causal: bool) -> None:
        mask = within(torch.ones(1, 6, dtype=torch.bool), causal, window)
        assert mask.keep is not None
        for i in range(6):
            for j in range(6):
                near = abs(i - j) <= (window - 1) / 2
                assert bool(mask.keep[0, 0, i, j]) == (near and (j <= i or not causal))

    def test_a_window_over_padding_hides_both(self) -> None:
        keep = torch.tensor([[True, True, False, False, False]])
        mask = within(keep, False, 3)
        assert mask.keep is not None
        assert mask.empty is not None
        assert mask.empty.flatten().tolist() == [False, False, False, True, True]
        assert mask.keep[0, 0, :3].tolist() == [
            [True, True, False, False, False],
            [True, True, False, False, False],
            [False, True, False, False, False],
        ]

    @pytest.mark.parametrize("side", ["encoder", "decoder"])
    def test_one_layer_reaches_no_further_and_just_as_far(self, side: str) -> None:
        model = _model(window=5, layers=1, cross_attention=side == "encoder", tying="none")
        ids = random_tokens(1, 9)
        changed = ids.clone()
        changed[0, 4] = (changed[0, 4] - 4 + 5) % 16 + 4
        if side == "encoder":
            first, second = model.encode(ids).states, model.encode(changed).states
            reached = [2, 3, 4, 5, 6]
        else:
            first, second = (model.decode(x, model.encode(ids)) for x in (ids, changed))
            reached = [4, 5, 6]
        assert [t for t in range(9) if not torch.equal(first[0, t], second[0, t])] == reached

    def test_cross_attention_is_not_restricted(self) -> None:
        model = _model(window=3, layers=1)
        source = random_tokens(1, 12)
        changed = source.clone()
        changed[0, 11] = (changed[0, 11] - 4 + 5) % 16 + 4
        target = random_tokens(1, 2)
        assert not torch.equal(model(source, target), model(changed, target))

    def test_a_window_over_everything_is_no_window(self) -> None:
        target = random_tokens(3, 5)
        torch.testing.assert_close(_model(window=9)(SOURCE, target), _model()(SOURCE, target), atol=1e-6, rtol=0)


class TestFuture:
    def test_without_the_mask_training_sees_the_future(self) -> None:
        model = _model(causal=False)
        target = random_tokens(3, 6)
        changed = target.clone()
        changed[:, 5] = (changed[:, 5] - 4 + 5) % 16 + 4
        assert not torch.equal(model(SOURCE, target)[:, 0], model(SOURCE, changed)[:, 0])

    @pytest.mark.parametrize("changes", [{}, {"window": 3}, {"position": "t5"}, {"position": "alibi"}], ids=str)
    @torch.no_grad()
    def test_decoding_goes_from_left_to_right_all_the_same(self, changes: dict[str, object]) -> None:
        """Step t equals the last position of a full pass over ids 0..t only where one layer reads the inputs."""
        model = _model(causal=False, layers=1, **changes)
        memory = model.encode(SOURCE)
        target = random_tokens(3, 6)
        state = model.start(memory, max_length=6)
        for position in range(6):
            hidden = model.step(target[:, position : position + 1], state)
            expected = model.decode(target[:, : position + 1], memory)[:, -1]
            torch.testing.assert_close(hidden[:, 0], expected, atol=1e-5, rtol=0)

    def test_target_padding_stays_hidden(self) -> None:
        model = _model(causal=False)
        target = torch.tensor([[5, 6, 7]])
        padded = torch.tensor([[5, 6, 7, 0, 0]])
        torch.testing.assert_close(model(SOURCE[:1], padded)[:, :3], model(SOURCE[:1], target), atol=1e-5, rtol=0)


class TestNoSource:
    @pytest.mark.parametrize("tying", ["three-way", "decoder", "none"])
    def test_there_is_no_encoder_and_every_parameter_learns(self, tying: str) -> None:
        model = _model(cross_attention=False, tying=tying).train()
        assert not any("cross" in name or "encoder" in name or "source" in name for name, _ in model.named_parameters())
        model(SOURCE, random_tokens(3, 6)).square().sum().backward()
        assert all(p.grad is not None and p.grad.any() for p in model.parameters())

    def test_the_source_changes_nothing_but_what_the_search_is_told_of_its_length(self) -> None:
        model = _model(cross_attention=False)
        target = random_tokens(3, 6)
        assert torch.equal(model(SOURCE, target), model(SOURCE.flip(0), target))
        assert torch.equal(model.encode(SOURCE).keep, SOURCE != 0)

    def test_reading_no_source_costs_nothing(self) -> None:
        config = replace(SMALL, cross_attention=False)
        assert training_flops(config, 20, 1e6, 0.0) == 0.0
        assert training_flops(config, 20, 0.0, 1e3) < training_flops(SMALL, 20, 0.0, 1e3)


class TestWeightDropout:
    def _inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        generator = torch.Generator().manual_seed(0)
        q, k = (torch.randn(4, 50, 2, 4, generator=generator) for _ in range(2))
        return q, k, torch.eye(50)[None, :, None].expand(4, 50, 2, 50)

    @pytest.mark.parametrize("kernel", ["matmul", "sdpa"])
    def test_weights_are_dropped_and_the_rest_scaled(self, kernel: str) -> None:
        """With values that are unit vectors, the context is the weights."""
        core = AttentionCore(ProductScore(0.5), 0.25, kernel=kernel)
        q, k, v = self._inputs()
        mask = within(torch.ones(4, 50, dtype=torch.bool), True, None)
        whole = core.weights(q, k, mask).transpose(1, 2)
        torch.manual_seed(0)
        dropped = core(q, k, v, mask)
        seen = whole > 0
        assert (dropped[seen] == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
        kept = seen & (dropped != 0)
        torch.testing.assert_close(dropped[kept], whole[kept] / 0.75, atol=1e-6, rtol=1e-4)
        assert not dropped[~seen].any()

    @pytest.mark.parametrize("kernel", ["matmul", "sdpa"])
    @pytest.mark.parametrize("rate", [0.0, 0.25])
    def test_evaluation_has_none_and_draws_nothing(self, kernel: str, rate: float) -> None:
        core = AttentionCore(ProductScore(0.5), rate, kernel=kernel).train(rate == 0)
        q, k, v = self._inputs()
        mask = within(torch.ones(4, 50, dtype=torch.bool), True, None)
        before = torch.get_rng_state()
        torch.testing.assert_close(core(q, k, v, mask), core.weights(q, k, mask).transpose(1, 2), atol=1e-6, rtol=0)
        assert torch.equal(torch.get_rng_state(), before)

    @pytest.mark.parametrize("part", ["self_attention", "cross_attention"])
    def test_both_attentions_have_it(self, part: str) -> None:
        model = _model(dropout_attention=0.5, dropout=0.0).train()
        layer = model.decoder.layers[0]
        memory = model.encode(SOURCE)
        x = torch.randn(3, 4, 16, generator=torch.Generator().manual_seed(0))
        attention = getattr(layer, part)
        causal = within(torch.ones(3, 4, dtype=torch.bool), True, None)
        given = (causal,) if part == "self_attention" else (layer.project(memory), memory.mask)
        with torch.no_grad():
            assert not torch.equal(attention(x, *given), attention(x, *given))
            attention.eval()
            assert torch.equal(attention(x, *given), attention(x, *given))


@pytest.mark.parametrize("changes", CHOICES, ids=str)
@torch.no_grad()
def test_weights_can_be_looked_at(changes: dict[str, object]) -> None:
    """For attention maps: those of every self-attention sum to one, and give the context that the model uses."""
    model = _model(**changes)
    attention = model.decoder.layers[0].self_attention
    x = torch.randn(3, 6, 16, generator=torch.Generator().manual_seed(0))
    mask = within(torch.ones(3, 6, dtype=torch.bool), True, changes.get("window"))
    q, k, v = attention.project(x)
    weights = attention.core.weights(q, k, mask, attention.relative)
    assert weights.shape == (3, 2, 6, 6)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 2, 6))
    assert not weights.triu(1).any()
    context = (weights @ v.transpose(1, 2)).transpose(1, 2)
    added = None if attention.relative is None else attention.relative.context_bias(weights, 0)
    context = context if added is None else context + added
    torch.testing.assert_close(attention.output(context.flatten(2)), attention(x, mask), atol=1e-5, rtol=0)
