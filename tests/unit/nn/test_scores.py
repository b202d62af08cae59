"""Scores: values of the cases, initial values, names."""

import math

import pytest
import torch

from ablatable.config.model import Model
from ablatable.config.tree import leaves
from ablatable.nn.attention import AttentionCore
from ablatable.nn.build import build_model
from ablatable.nn.masks import EVERYTHING, padding
from ablatable.nn.scores import KINDS, SCALES, Additive

SMALL = Model(layers=1, d_model=12, d_ff=16, heads=3, d_k=4, d_v=5)


def _axis(path: str):
    axis = leaves()[path].axis
    assert axis is not None
    return axis


def test_every_name_has_its_class() -> None:
    assert list(KINDS) == list(_axis("model.score").choices)
    assert list(SCALES) == list(_axis("model.score_scale").choices)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("1/sqrt(d_k)", [0.88079703, 0.11920291]),
        ("1/sqrt(d_model)", [0.80442971, 0.19557032]),
        ("none", [0.98201376, 0.01798621]),
        ("1/d_k", [0.73105860, 0.26894143]),
        ("learned", [0.88079703, 0.11920291]),
    ],
)
@pytest.mark.parametrize("kernel", ["matmul", "sdpa"])
def test_arch_01_each_scale_is_a_choice_of_its_own(scale: str, expected: list[float], kernel: str) -> None:
    model = Model(d_model=8, heads=2, score_scale=scale)
    core = AttentionCore(KINDS["dot"](model), kernel=kernel)
    for parameter in core.parameters():
        torch.nn.init.constant_(parameter, core.score.initial)
    q = torch.ones(1, 1, 2, 4)
    k = torch.stack((torch.ones(2, 4), torch.zeros(2, 4)))[None]
    v = torch.eye(2)[None, :, None].expand(1, 2, 2, 2)
    wanted = torch.tensor(expected)
    torch.testing.assert_close(core.weights(q, k, EVERYTHING)[0, 0, 0], wanted, atol=1e-7, rtol=0)
    torch.testing.assert_close(core(q, k, v, EVERYTHING)[0, 0, 0], wanted, atol=1e-7, rtol=0)


def test_arch_12_additive_scores_are_not_scaled_and_are_masked() -> None:
    core = AttentionCore(Additive(1, 2))
    with torch.no_grad():
        core.score.weight.copy_(torch.tensor([[1.0, -1.0]]))
    q = torch.tensor([1.0, 0.0]).view(1, 1, 1, 2)
    k = torch.tensor([[0.5, 0.5], [-1.0, 2.0]]).view(1, 2, 1, 2)
    scores = core.score(q, k).flatten()
    torch.testing.assert_close(scores, torch.tensor([0.4430311024, -0.9640275836]), atol=1e-7, rtol=0)
    weights = core.weights(q, k, EVERYTHING).flatten()
    torch.testing.assert_close(weights, torch.tensor([0.8033016324, 0.1966983674]), atol=1e-7, rtol=0)
    assert core.weights(q, k, padding(torch.tensor([[True, False]]))).flatten().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("score", KINDS)
def test_mask_05_true_means_keep(score: str) -> None:
    core = AttentionCore(KINDS[score](Model(d_model=2, heads=1)))
    for parameter in core.parameters():
        torch.nn.init.ones_(parameter)
    v = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).view(1, 2, 1, 2)
    context = core(torch.zeros(1, 1, 1, 2), torch.zeros(1, 2, 1, 2), v, padding(torch.tensor([[True, False]])))
    assert context.flatten().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("score", KINDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_mask_09_no_precision_overflows(score: str, dtype: torch.dtype) -> None:
    core = AttentionCore(KINDS[score](Model(d_model=8, heads=2)))
    for parameter in core.parameters():
        torch.nn.init.constant_(parameter, 3.0)
    q, k, v = (torch.randn(2, 4, 2, 4, generator=torch.Generator().manual_seed(i)).to(dtype) for i in range(3))
    context = core(50 * q, 50 * k, v, padding(torch.tensor([[True] * 4, [False, True, False, False]])))
    assert context.dtype == dtype
    assert torch.isfinite(context).all()
    assert torch.equal(context[1], v[1, 1].expand(4, 2, 4))  # one visible key: all weight on it


class TestInitialValues:
    def _score(self, **choices):
        built = build_model(Model(layers=1, d_model=64, d_ff=16, heads=4, **choices), 20, 20, 1)
        return [module.core.score for module in built.modules() if hasattr(module, "core")]

    def test_a_learned_scale_starts_at_the_paper_s(self) -> None:
        assert [score.factor.item() for score in self._score(score_scale="learned")] == [0.25] * 3

    def test_a_cosine_starts_at_the_root_of_d_k(self) -> None:
        assert [score.factor.item() for score in self._score(score="cosine")] == [4.0] * 3

    def test_an_additive_vector_is_a_map_to_one_number_a_head(self) -> None:
        vectors = [score.weight for score in self._score(score="additive")]
        bound = math.sqrt(6 / 17)
        for vector in vectors:
            assert vector.shape == (4, 16)
            assert 0.8 * bound < vector.abs().max().item() <= bound
            assert not torch.equal(vector[0], vector[1])
        assert not torch.equal(vectors[0], vectors[1])


def test_the_cosine_of_nothing_is_zero_and_harms_no_gradient() -> None:
    score = KINDS["cosine"](SMALL)
    torch.nn.init.ones_(score.factor)
    q = torch.zeros(1, 1, 1, 4, requires_grad=True)
    k = torch.ones(1, 1, 1, 4)
    scores = score(q, k)
    assert scores.item() == 0.0
    assert torch.isfinite(torch.autograd.grad(scores.sum(), q)[0]).all()


def test_a_second_derivative_of_the_additive_score_is_refused_rather_than_wrong() -> None:
    score = Additive(1, 2)
    torch.nn.init.ones_(score.weight)
    q = torch.ones(1, 1, 1, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(score(q, q).square().sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
