"""Building: initial values by name, tying, refusals, laws of the whole model."""

import copy
import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.build import build_model
from ablatable.nn.count import parameter_count
from ablatable.nn.dropout import Dropout
from ablatable.nn.init import initialise
from ablatable.nn.transformer import Transformer

SMALL = Model(layers=2, d_model=16, d_ff=24, heads=2)


def _count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


class TestInitialValues:
    def test_the_same_seed_gives_the_same_values_and_leaves_the_global_generator_alone(self) -> None:
        before = torch.get_rng_state()
        first, second, other = (build_model(SMALL, 20, 20, seed) for seed in (1, 1, 2))
        assert torch.equal(torch.get_rng_state(), before)
        for a, b, c in zip(first.parameters(), second.parameters(), other.parameters(), strict=True):
            assert torch.equal(a, b)
            assert a.ndim == 1 or not torch.equal(a, c)

    @pytest.mark.parametrize(
        "change",
        [
            {"layers": 3},
            {"d_ff": 48},
            {"position": "learned"},
            {"heads": 4},
            {"attention_bias": False},
            {"d_k": 3},
        ],
        ids=str,
    )
    def test_models_that_differ_elsewhere_share_every_parameter_of_one_name_and_shape(self, change) -> None:
        base = dict(build_model(SMALL, 20, 20, 1).named_parameters())
        other = dict(build_model(replace(SMALL, **change), 20, 20, 1).named_parameters())
        shared = [name for name in base if name in other and base[name].shape == other[name].shape]
        assert len(shared) > 10
        assert all(torch.equal(base[name], other[name]) for name in shared)

    def test_parameters_of_one_shape_differ_among_themselves(self) -> None:
        layers = build_model(SMALL, 20, 20, 1).encoder.layers
        assert not torch.equal(layers[0].feed_forward.inner.weight, layers[1].feed_forward.inner.weight)

    def test_distributions(self) -> None:
        model = build_model(Model(layers=1, d_model=256, d_ff=512, heads=8), 2000, 2000, 1)
        table = model.output_weight
        assert torch.equal(table[0], torch.zeros(256))
        assert table[1:].std().item() == pytest.approx(256**-0.5, rel=0.01)
        assert table.mean().item() == pytest.approx(0, abs=1e-3)
        attention = model.encoder.layers[0].self_attention
        bound = math.sqrt(6 / (256 + 3 * 256))  # the fan of the fused width
        assert attention.qkv.weight.abs().max().item() == pytest.approx(bound, rel=0.001)
        assert attention.qkv.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.01)
        assert attention.output.weight.abs().max().item() == pytest.approx(math.sqrt(6 / 512), rel=0.001)
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                assert not parameter.any(), name
            if name.endswith("norm.weight"):
                assert torch.equal(parameter, torch.ones(256)), name

    def test_a_part_without_declared_values_is_an_error(self) -> None:
        with pytest.raises(TypeError, match=r"no initial values are declared for PReLU\.weight"):
            initialise(nn.Sequential(nn.PReLU()), 1)

    @pytest.mark.parametrize("tying", ["three-way", "none"])
    def test_arch_02_first_loss_is_near_that_of_guessing(self, tying: str) -> None:
        """With std 0.02 it is ln V; tied with std d^-0.5 up to 9.7: the input leaks to its own logit."""
        vocabulary = 1000
        model = build_model(Model(layers=2, d_model=512, d_ff=512, tying=tying), vocabulary, vocabulary, 1).eval()
        generator = torch.Generator().manual_seed(0)
        source, target, answer = (torch.randint(4, vocabulary, (8, 16), generator=generator) for _ in range(3))

        def nll() -> float:
            with torch.no_grad():
                return F.cross_entropy(model(source, target).flatten(0, 1), answer.flatten()).item()

        assert nll() < 20
        with torch.no_grad():
            model.output_weight.mul_(0.02 / model.output_weight[1:].std())
        assert abs(nll() - math.log(vocabulary)) < 0.2


class TestTying:
    def _matrices(self, model: Transformer) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
        return model.source_input.embedding.weight, model.target_input.embedding.weight, model.output_weight

    def _assert_tied(self, model: Transformer, tying: str) -> None:
        source, target, output = self._matrices(model)
        assert (source is target) == (tying in ("three-way", "source-target"))
        assert (target is output) == (tying in ("three-way", "decoder"))
        assert (source is output) == (tying == "three-way")

    @pytest.mark.parametrize(
        ("tying", "rows"), [("three-way", 12), ("source-target", 24), ("decoder", 24), ("none", 36)]
    )
    def test_arch_04_which_matrices_are_one(self, tying: str, rows: int) -> None:
        model = build_model(replace(SMALL, tying=tying), 12, 12, 1)
        self._assert_tied(model, tying)
        body = _count(model.encoder) + _count(model.decoder)
        assert _count(model) == body + rows * 16

    @pytest.mark.parametrize(("tying", "rows"), [("decoder", 22), ("none", 34)])
    def test_arch_04_two_vocabularies(self, tying: str, rows: int) -> None:
        config = replace(SMALL, tying=tying)
        model = build_model(config, 10, 12, 1)
        assert _count(model) - _count(model.encoder) - _count(model.decoder) == rows * 16
        assert _count(model) == parameter_count(config, 10, 12)
        assert model(torch.tensor([[9]]), torch.tensor([[11]])).shape == (1, 1, 12)

    @pytest.mark.parametrize("tying", ["three-way", "source-target"])
    def test_arch_04_one_matrix_for_two_vocabularies_is_refused(self, tying: str) -> None:
        with pytest.raises(InputError, match=r"10 pieces.*12.*tokenizer.sharing"):
            build_model(replace(SMALL, tying=tying), 10, 12, 1)

    @pytest.mark.parametrize("tying", ["three-way", "decoder", "source-target", "none"])
    @pytest.mark.parametrize("route", ["load", "assign", "deepcopy", "reload", "train"])
    def test_arch_05_tied_weights_stay_tied(self, tying: str, route: str, tmp_path) -> None:
        config = replace(SMALL, tying=tying)
        model, source = build_model(config, 12, 12, 1), build_model(config, 12, 12, 2)
        values = {name: value.clone() for name, value in source.state_dict().items()}
        if route == "load":
            model.load_state_dict(values)
        elif route == "assign":
            model.load_state_dict({name: nn.Parameter(value) for name, value in values.items()}, assign=True)
        elif route == "deepcopy":
            model = copy.deepcopy(source)
        elif route == "reload":
            torch.save(source.state_dict(), tmp_path / "model.pt")
            model.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True), assign=True)
        else:
            model.load_state_dict(values)
            model(torch.tensor([[5]]), torch.tensor([[6]])).square().sum().backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.sub_(parameter.grad, alpha=0.1)
        self._assert_tied(model, tying)
        assert _count(model) == parameter_count(config, 12, 12)
        if route != "train":
            ids = torch.tensor([[5, 6]])
            assert torch.equal(model.eval()(ids, ids), source.eval()(ids, ids))


class TestLaws:
    def test_without_positions_the_encoder_does_not_see_order(self) -> None:
        model = build_model(replace(SMALL, position="none"), 20, 20, 1).eval()
        source = torch.tensor([[5, 6, 7, 8, 9]])
        order = torch.tensor([3, 1, 4, 0, 2])
        straight, shuffled = model.encode(source).states, model.encode(source[:, order]).states
        torch.testing.assert_close(shuffled, straight[:, order], atol=1e-5, rtol=0)

    @pytest.mark.parametrize("position", ["sinusoidal", "learned"])
    def test_with_positions_it_does(self, position: str) -> None:
        model = build_model(replace(SMALL, position=position), 20, 20, 1).eval()
        straight = model.encode(torch.tensor([[5, 6, 7]])).states
        shuffled = model.encode(torch.tensor([[7, 6, 5]])).states
        assert (shuffled - straight.flip(1)).abs().max() > 0.01

    def test_arch_07_a_post_norm_stack_has_no_norm_of_its_own(self) -> None:
        model = build_model(Model(), 37000, 37000, 1)
        body = _count(model.encoder) + _count(model.decoder)
        assert body == 44_138_496
        assert _count(model) == 63_082_496

    def test_dropout_is_where_the_paper_has_it(self) -> None:
        """On two embedding sums and five sub-layer outputs of a layer pair; none inside a sub-layer."""
        model = build_model(SMALL, 20, 20, 1).train()
        names = [name for name, m in model.named_modules() if isinstance(m, Dropout) and m.rate > 0]
        assert len(names) == 2 + 5 * SMALL.layers
        assert all(name.endswith(("residual.dropout", "_input.dropout")) for name in names)
        x = torch.randn(1, 3, 16, generator=torch.Generator().manual_seed(0))
        layer = model.encoder.layers[0]
        assert torch.equal(layer.feed_forward(x), layer.feed_forward(x))
        memory = build_model(SMALL, 20, 20, 1).eval().encode(torch.tensor([[5, 6, 7]]))
        assert torch.equal(layer.self_attention(x, memory.mask), layer.self_attention(x, memory.mask))

    @pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
    def test_other_precisions(self, dtype: torch.dtype) -> None:
        model = build_model(SMALL, 20, 20, 1).eval()
        source, target = torch.tensor([[5, 6, 0], [7, 8, 9]]), torch.tensor([[2, 4], [2, 5]])
        expected = model(source, target)
        got = model.to(dtype)(source, target)
        assert got.dtype == dtype
        torch.testing.assert_close(got.float(), expected, atol=0.1 if dtype == torch.bfloat16 else 1e-5, rtol=0)

    def test_bfloat16_autocast_trains(self) -> None:
        model = build_model(SMALL, 20, 20, 1).train()
        source, target = torch.tensor([[5, 6, 0], [7, 8, 9]]), torch.tensor([[2, 4], [2, 0]])
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(source, target).float().square().mean()
        loss.backward()
        assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            rounded = model.eval()(source, target).float()
        with torch.no_grad():
            torch.testing.assert_close(rounded, model(source, target), atol=0.1, rtol=0)


class TestRefusals:
    def test_learned_positions_refuse_a_longer_sentence(self) -> None:
        model = build_model(replace(SMALL, position="learned", position_max=4), 20, 20, 1)
        model.encode(torch.full((1, 4), 5))
        with pytest.raises(InputError, match=r"model\.position_max=4"):
            model.encode(torch.full((1, 5), 5))
