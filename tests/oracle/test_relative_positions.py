"""Relative positions in self-attention against loops written from their formulas, and published values."""

import cmath
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ablatable.config.model import Model
from ablatable.config.tree import leaves
from ablatable.nn import positions
from ablatable.nn.attention import AttentionCore, Kernel, SelfAttention
from ablatable.nn.build import build_model
from ablatable.nn.init import initialise
from ablatable.nn.masks import within
from ablatable.nn.relative import KINDS, of_each_layer
from ablatable.nn.relative.alibi import LinearBiases, slope_exponents
from ablatable.nn.relative.bucketed import BucketBias
from ablatable.nn.relative.rotary import LAYOUTS, Rotary
from ablatable.nn.relative.shaw import RelativeVectors
from ablatable.nn.scores import ProductScore

HEADS, KEY_SIZE, VALUE_SIZE = 3, 4, 5
SMALL = Model(
    layers=2, d_model=12, d_ff=8, heads=HEADS, d_k=KEY_SIZE, d_v=VALUE_SIZE,
    position_clip=2, position_buckets=8, position_distance=6,
)  # fmt: skip
CASES = [
    {"position": "rope", "position_layout": "interleaved"},
    {"position": "rope", "position_layout": "halves", "position_base": 100.0},
    {"position": "alibi"},
    {"position": "alibi", "position_slopes": "learned"},
    {"position": "shaw"},
    {"position": "t5"},
]
each_case = pytest.mark.parametrize("changes", CASES, ids=lambda c: "-".join(str(value) for value in c.values()))

Score = Callable[[int, int, int, Tensor, Tensor], float]


def _attention(changes: dict[str, object], is_causal: bool, kernel: Kernel = "matmul") -> SelfAttention:
    model = replace(SMALL, **changes)
    (relative, _) = of_each_layer(model, is_causal)
    core = AttentionCore(ProductScore(1 / math.sqrt(KEY_SIZE)), kernel=kernel)
    attention = SelfAttention(model.d_model, HEADS, KEY_SIZE, VALUE_SIZE, True, core, relative)
    initialise(attention, seed=2)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
    return attention.double()


def _rotated(x: list[float], position: int, interleaved: bool, base: float) -> list[float]:
    """Pairs as complex numbers times e^(i p base^(-2j/d))."""
    half = len(x) // 2
    pairs = [(2 * j, 2 * j + 1) if interleaved else (j, j + half) for j in range(half)]
    turned = list(x)
    for j, (first, second) in enumerate(pairs):
        z = complex(x[first], x[second]) * cmath.exp(1j * position * base ** (-2 * j / len(x)))
        turned[first], turned[second] = z.real, z.imag
    return turned


def _bucket(offset: int, buckets: int, distance: int, both_sides: bool) -> int:
    """In whole numbers: the last k with exact * (distance / exact)^(k / wider) <= n, that is,
    distance^k * exact^wider <= n^wider * exact^k."""
    first, n = 0, -offset
    if both_sides:
        buckets //= 2
        first, n = (buckets if offset > 0 else 0), abs(offset)
    exact = buckets // 2
    if n < exact:
        return first + max(n, 0)
    wider = buckets - exact
    return first + exact + max(k for k in range(wider) if distance**k * exact**wider <= n**wider * exact**k)


def _published_slopes(heads: int) -> list[float]:
    """The rule of ALiBi's authors, for any number of heads."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return _published_slopes(closest) + _published_slopes(2 * closest)[0::2][: heads - closest]


def _score(changes: dict[str, object], relative: Any, is_causal: bool, h: int, i: int, j: int, q, k) -> float:
    """From the formula of the position's name."""
    scale = 1 / math.sqrt(KEY_SIZE)
    if changes["position"] == "rope":
        interleaved = changes.get("position_layout") != "halves"
        base = float(str(changes.get("position_base", 10000.0)))
        q, k = _rotated(q.tolist(), i, interleaved, base), _rotated(k.tolist(), j, interleaved, base)
    product = sum(float(a) * float(b) for a, b in zip(q, k, strict=True)) * scale
    if changes["position"] == "alibi":
        slopes = relative.log2_slopes
        slope = _published_slopes(HEADS)[h] if slopes is None else 2 ** float(slopes[h])
        return product - slope * abs(i - j)
    if changes["position"] == "t5":
        return product + float(relative.weight[_bucket(j - i, 8, 6, not is_causal), h])
    if changes["position"] == "shaw":
        vector = relative.keys[max(-2, min(2, j - i)) + 2]
        return product + scale * sum(float(a) * float(b) for a, b in zip(q, vector, strict=True))
    return product


def _loop(changes: dict[str, object], attention: SelfAttention, x: Tensor, is_causal: bool, keep: Tensor) -> Tensor:
    """Self-attention, one score at a time."""
    relative = attention.relative
    context = torch.zeros(*x.shape[:2], HEADS, VALUE_SIZE, dtype=torch.float64)
    q, k, v = (part.unflatten(-1, (HEADS, -1)) for part in attention.qkv(x).split(attention.widths, dim=-1))
    for b in range(x.shape[0]):
        for h in range(HEADS):
            for i in range(x.shape[1]):
                seen = [j for j in range(x.shape[1]) if keep[b, j] and not (is_causal and j > i)]
                scores = [_score(changes, relative, is_causal, h, i, j, q[b, i, h], k[b, j, h]) for j in seen]
                total = sum(math.exp(score) for score in scores)
                for j, score in zip(seen, scores, strict=True):
                    value = v[b, j, h]
                    if changes["position"] == "shaw":
                        value = value + relative.values[max(-2, min(2, j - i)) + 2]
                    context[b, i, h] += math.exp(score) / total * value
    return attention.output(context.flatten(2))


@pytest.mark.parametrize("is_causal", [False, True], ids=["both sides", "causal"])
@each_case
@torch.no_grad()
def test_attention_equals_the_formula(changes: dict[str, object], is_causal: bool) -> None:
    attention = _attention(changes, is_causal)
    x = torch.randn(2, 9, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    keep = torch.ones(2, 9, dtype=torch.bool)
    keep[1, 6:] = False
    expected = _loop(changes, attention, x, is_causal, keep)
    mask = within(keep, is_causal)
    torch.testing.assert_close(attention(x, mask), expected, atol=1e-10, rtol=0)
    for kernel in ("matmul", "sdpa"):
        attention.core.kernel = kernel
        torch.testing.assert_close(attention(x, mask), expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(attention.float()(x.float(), mask), expected.float(), atol=1e-5, rtol=1e-5)


def test_every_position_is_one_kind_or_none() -> None:
    axis = leaves()["model.position"].axis
    assert axis is not None
    assert set(KINDS) | set(positions.KINDS) == set(axis.choices)
    assert not set(KINDS) & set(positions.KINDS)


def test_tables_and_slopes_are_shared_by_the_layers_of_a_stack_and_vectors_are_not() -> None:
    for name, shared in {"t5": True, "alibi": True, "rope": True, "shaw": False}.items():
        first, second = of_each_layer(replace(SMALL, position=name), causal=True)
        assert (first is second) is shared
    built = build_model(replace(SMALL, position="t5"), 9, 9, seed=1)
    tables = [name for name, _ in built.named_parameters() if ".relative." in name]
    assert tables == [f"{stack}.layers.0.self_attention.relative.weight" for stack in ("encoder", "decoder")]
    assert not torch.equal(*(built.get_parameter(name) for name in tables))


def test_pos_06_slopes() -> None:
    slopes = torch.exp2(slope_exponents(8, torch.float32))
    assert slopes[0] == 0.5
    assert slopes[7] == 0.00390625


@pytest.mark.parametrize("heads", range(1, 70))
def test_pos_06_slopes_follow_the_published_rule_for_any_number_of_heads(heads: int) -> None:
    slopes = torch.exp2(slope_exponents(heads, torch.float64))
    assert slopes.tolist() == pytest.approx(_published_slopes(heads), rel=1e-12)


def _bias(slope_exponent: float, queries: int, keys: int, offset: int) -> Tensor:
    biases = LinearBiases(1, learned=True)
    with torch.no_grad():
        biases.log2_slopes.fill_(slope_exponent)
        return biases.score_bias(torch.zeros(1, queries, 1, 2), keys, offset)[0]


def test_pos_07_both_directions_lose_with_distance() -> None:
    assert _bias(-1, 3, 3, 0).tolist() == [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]]
    weights = torch.softmax(_bias(-1, 1, 3, 2)[0], dim=0)
    expected = torch.tensor([0.1863237232, 0.3071958857, 0.5064803911])
    torch.testing.assert_close(weights, expected, atol=1e-7, rtol=0)


def test_learned_slopes_start_as_the_fixed_ones_bit_for_bit() -> None:
    q = torch.zeros(1, 40, 12, 2)
    learned = LinearBiases(12, learned=True)
    initialise(learned, seed=1)
    assert torch.equal(learned.score_bias(q, 40, 0), LinearBiases(12, learned=False).score_bias(q, 40, 0))


@pytest.mark.parametrize(("layout", "expected"), [("interleaved", -0.5986440717), ("halves", -0.5430461331)])
def test_pos_10_only_offsets_matter_to_a_rotation(layout: str, expected: float) -> None:
    q = torch.tensor([1, 0, 0.5, -0.5], dtype=torch.float64).view(1, 1, 1, 4)
    k = torch.tensor([0.3, -0.2, 0.1, 0.7], dtype=torch.float64).view(1, 1, 1, 4)
    rotary = Rotary(4, LAYOUTS[layout], 10000.0)
    for query, key in ((5, 3), (9, 7), (1002, 1000)):
        score = (rotary.rotate(q, query) * rotary.rotate(k, key)).sum().item()
        assert score == pytest.approx(expected, abs=1e-9)
    assert torch.equal(rotary.rotate(q, 0), q)
    assert (q * k).sum().item() == pytest.approx(0.0, abs=1e-12)


@torch.no_grad()
def test_pos_10_values_are_never_rotated() -> None:
    attention = _attention({"position": "rope"}, is_causal=False)
    x = torch.ones(1, 3, 12, dtype=torch.float64)
    for offset in (0, 7):
        raw = attention.qkv(x).split(attention.widths, dim=-1)
        for part, (given, projected) in enumerate(zip(raw, attention.project(x, offset), strict=True)):
            unchanged = torch.equal(projected[:, 1:].flatten(2), given[:, 1:])
            assert unchanged is (part == 2)


def test_pos_12_rotations_survive_bfloat16() -> None:
    x = torch.ones(1, 300, 1, 8)
    rotary = Rotary(8, LAYOUTS["interleaved"], 10000.0)
    exact = rotary.rotate(x, 0)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = rotary.bfloat16().rotate(x.bfloat16(), 0)
    assert rounded.dtype == torch.bfloat16
    assert torch.equal(rounded, exact.bfloat16())
    for first, second in pairwise(range(255, 260)):
        assert not torch.equal(rounded[0, first], rounded[0, second])


def test_pos_12_distances_survive_bfloat16() -> None:
    bias = LinearBiases(2, learned=False).bfloat16().score_bias(torch.zeros(1, 1, 2, 2, dtype=torch.bfloat16), 260, 259)
    assert bias.dtype == torch.float32
    assert bias[0, 0, 255:].tolist() == [-(2.0**-4) * distance for distance in (4, 3, 2, 1, 0)]
    assert bias[0, 0, :2].tolist() == [-(2.0**-4) * 259, -(2.0**-4) * 258]


def test_a_table_made_by_a_search_serves_training() -> None:
    rotary = Rotary(4, LAYOUTS["halves"], 10000.0)
    with torch.inference_mode():
        rotary.rotate(torch.ones(1, 3, 1, 4), 0)
    x = torch.ones(1, 3, 1, 4, requires_grad=True)
    rotary.rotate(x, 0).sum().backward()
    assert x.grad is not None


def test_pos_14_rows_of_clipped_offsets() -> None:
    vectors = RelativeVectors(4, 4, clip=2)
    rows = [[2, 3, 4, 4, 4], [1, 2, 3, 4, 4], [0, 1, 2, 3, 4], [0, 0, 1, 2, 3], [0, 0, 0, 1, 2]]
    assert vectors.rows(5, 5, 0).tolist() == rows
    assert vectors.rows(1, 5, 4).tolist() == rows[4:]
    assert vectors.rows(2, 5, 1).tolist() == rows[1:3]


class _Largest(TorchDispatchMode):
    """Notes the size of the largest tensor that is made."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for made in result if isinstance(result, tuple | list) else (result,):
            if isinstance(made, Tensor):
                self.numbers = max(self.numbers, made.untyped_storage().nbytes() // made.element_size())
        return result


def test_pos_14_vectors_are_looked_up_once_not_for_each_sentence() -> None:
    batch, length, heads, width = 16, 12, 2, 32
    vectors = RelativeVectors(width, width, clip=4)
    initialise(vectors, seed=1)
    q = torch.ones(batch, length, heads, width, requires_grad=True)
    with _Largest() as largest:
        scores = vectors.score_bias(q, length, 0)
        vectors.context_bias(scores, 0).sum().backward()
    allowed = max(length * length * width, batch * length * heads * width, batch * heads * length * length)
    assert largest.numbers <= allowed < batch * length * length * width


def test_t5_buckets_are_those_of_its_published_code() -> None:
    both, past = BucketBias(1, 32, 128, False, 1.0), BucketBias(1, 32, 128, True, 1.0)
    starts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    distances = torch.arange(300)
    expected = [sum(n >= start for start in starts) - 1 for n in range(300)]
    assert both.buckets(-distances).tolist() == expected
    assert both.buckets(distances[1:]).tolist() == [16 + bucket for bucket in expected[1:]]
    assert past.buckets(distances).eq(0).all()
    assert past.buckets(-torch.tensor([15, 16, 18, 19, 20, 21, 112, 113, 5000])).tolist() == [
        15, 16, 16, 17, 17, 18, 30, 31, 31,
    ]  # fmt: skip


@pytest.mark.parametrize(("buckets", "distance"), [(4, 3), (6, 20), (8, 6), (16, 64), (32, 128), (32, 17), (64, 256)])
@pytest.mark.parametrize("is_causal", [False, True], ids=["both sides", "causal"])
def test_buckets_equal_the_formula_in_whole_numbers(buckets: int, distance: int, is_causal: bool) -> None:
    bias = BucketBias(1, buckets, distance, is_causal, 1.0)
    offsets = range(-2 * distance, 2 * distance + 1)
    expected = [_bucket(offset, buckets, distance, not is_causal) for offset in offsets]
    assert bias.buckets(torch.tensor(list(offsets))).tolist() == expected


def test_t5_starts_from_the_scale_of_the_residual_stream() -> None:
    (bias, _) = of_each_layer(
        replace(SMALL, position="t5", d_model=400, position_buckets=4000, position_distance=9000), causal=True
    )
    initialise(bias, seed=1)
    assert bias.weight.std().item() == pytest.approx(1 / 20, rel=0.05)


@pytest.mark.parametrize(
    "changes",
    [
        *CASES,
        {"position": "none"},
        {"position": "sinusoidal"},
        {"position": "sinusoidal", "position_layout": "halves"},
        *(
            {"position": p, "position_combine": c}
            for p in ("learned", "index", "sinusoidal")
            for c in ("add", "concatenate")
        ),
    ],
    ids=lambda c: "-".join(str(value) for value in c.values()),
)
@torch.no_grad()
def test_pos_15_a_cached_step_equals_the_full_forward(changes: dict[str, object]) -> None:
    model = build_model(replace(SMALL, **changes), 20, 20, seed=1).eval()
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    memory = model.encode(torch.tensor([[5, 6, 7, 8, 9], [10, 11, 12, 0, 0]]))
    target = torch.randint(4, 20, (2, 9), generator=generator)
    full = model.logits(model.decode(target, memory))
    state = model.start(memory, max_length=9)
    for position in range(9):
        assert state.position == position
        if position == 6:
            state.widen(3)
        hidden = model.step(target[:, position : position + 1].repeat(1, state.beams), state)
        for beam in range(state.beams):
            torch.testing.assert_close(model.logits(hidden[:, beam]), full[:, position], atol=1e-5, rtol=1e-5)
