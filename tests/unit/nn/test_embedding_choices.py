"""Scale and deviation of embeddings, and where each rate of dropout acts."""

import math

import pytest
import torch
import torch.nn.functional as F

from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import Embedding

SMALL = {"layers": 1, "d_model": 64, "d_ff": 24, "heads": 2}


@pytest.mark.parametrize("tying", ["three-way", "decoder", "source-target", "none"])
def test_the_deviation_is_that_of_every_embedding_and_of_an_output_of_its_own(tying: str) -> None:
    model = build_model(Model(**SMALL, tying=tying, embedding_std=0.02, target_language_table=True), 900, 900, 1)
    for table in (model.source_input.embedding.weight, model.target_input.embedding.weight, model.output_weight):
        assert table[1:].std().item() == pytest.approx(0.02, rel=0.03)
    assert model.source_input.language.weight.std().item() == pytest.approx(64**-0.5, rel=0.1)


def test_null_is_one_over_the_root_of_the_width() -> None:
    null, said = (build_model(Model(**SMALL, embedding_std=std), 90, 90, 1) for std in (None, 64**-0.5))
    assert torch.equal(null.output_weight, said.output_weight)
    assert not null.output_weight[0].any()
    assert not said.output_weight[0].any()


@pytest.mark.parametrize(("scaled", "factor"), [(True, math.sqrt(64)), (False, 1.0)])
def test_arch_03_the_scale_is_on_the_input_and_nowhere_else(scaled: bool, factor: float) -> None:
    model = build_model(Model(**SMALL, embedding_scale=scaled, position="none"), 90, 90, 1).eval()
    ids = torch.tensor([[5, 6]])
    for stack in (model.source_input, model.target_input):
        torch.testing.assert_close(stack(ids), stack.embedding.weight[ids] * factor)
    hidden = torch.randn(3, 64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.logits(hidden), hidden @ model.output_weight.T)


@pytest.mark.parametrize("norm_placement", ["post", "pre", "sandwich"])
def test_arch_02_first_loss_is_that_of_guessing_where_embeddings_are_small(norm_placement: str) -> None:
    """V = 1000, d = 512, tied, sqrt(d) on the input, std 0.02: 6.92 to 7.06 whatever the norms; ln V = 6.908."""
    vocabulary = 1000
    config = Model(layers=2, d_model=512, d_ff=512, norm_placement=norm_placement, embedding_std=0.02)
    model = build_model(config, vocabulary, vocabulary, 1).eval()
    generator = torch.Generator().manual_seed(0)
    source, target, answer = (torch.randint(4, vocabulary, (4, 16), generator=generator) for _ in range(3))
    with torch.no_grad():
        nll = F.cross_entropy(model(source, target).flatten(0, 1), answer.flatten()).item()
    assert abs(nll - math.log(vocabulary)) < 0.2


def _rates(model: Model) -> dict[str, set[float]]:
    """The rates of the dropouts of a model, by place."""
    found: dict[str, set[float]] = {}
    for name, module in build_model(model, 20, 20, 1).named_modules():
        if isinstance(module, Dropout):
            place = next(p for p in ("_input", "residual", "feed_forward", "attention") if p in name.split(".")[-2])
            found.setdefault(place, set()).add(module.rate)
    return found


def test_each_rate_has_its_place() -> None:
    base = {"_input": {0.1}, "residual": {0.1}, "feed_forward": {0.0}}
    for changed, expected in (
        ({}, base),
        ({"dropout": 0.2}, base | {"_input": {0.2}, "residual": {0.2}}),
        ({"dropout_embedding": 0.3}, base | {"_input": {0.3}}),
        ({"dropout_embedding": 0.0}, base | {"_input": {0.0}}),
        ({"dropout_ffn": 0.3}, base | {"feed_forward": {0.3}}),
    ):
        found = _rates(Model(**SMALL, **changed))
        found.pop("attention", None)  # of its own tests
        assert found == expected, changed


def test_an_embedding_that_is_not_scaled_is_its_row() -> None:
    embedding = Embedding(3, 4, scaled=False)
    with torch.no_grad():
        embedding.weight.copy_(torch.arange(12.0).view(3, 4))
    assert embedding(torch.tensor([2])).tolist() == [[8.0, 9.0, 10.0, 11.0]]
