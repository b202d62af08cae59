"""Similarities, rotations, decays and biases against their formulas, and on tables that lack the property."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from ablatable.analysis.positions import relative, rotation
from ablatable.analysis.positions.encodings import Encodings, encodings, similarity
from ablatable.config.model import Model
from ablatable.nn.build import build_model
from ablatable.nn.positions import SinusoidalPositions
from ablatable.nn.relative.alibi import LinearBiases

TINY = Model(layers=2, d_model=16, d_ff=16, heads=2)


def _sinusoid(position: int, channel: int, width: int = 16) -> float:
    wave = position / 10000 ** (2 * (channel // 2) / width)
    return math.cos(wave) if channel % 2 else math.sin(wave)


def test_a_product_of_sinusoids_knows_the_offset_alone() -> None:
    found = similarity(Encodings("sinusoidal", None, encodings(SinusoidalPositions.of(TINY), 20, 16)))
    for offset in range(20):
        expected = sum(math.cos(offset / 10000 ** (2 * i / 16)) for i in range(8))
        by_hand = sum(_sinusoid(3, c) * _sinusoid(3 + offset, c) for c in range(16))
        assert by_hand == pytest.approx(expected)
        assert found.product[offset] == pytest.approx(expected, abs=1e-5)
        assert found.largest[offset] - found.least[offset] < 1e-5
        assert found.cosine[offset] == pytest.approx(expected / 8, abs=1e-6)
    assert len(found.cosines) == len(found.cosines[0]) == 20


def test_a_product_of_random_rows_depends_on_where_they_stand() -> None:
    table = torch.randn(20, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = similarity(Encodings("learned", None, table))
    assert max(high - low for high, low in zip(found.largest, found.least, strict=True)) > 1


def test_an_encoding_of_zero_has_no_direction_to_compare() -> None:
    """The number 0 times a vector: its cosine with others, and with itself, is undefined rather than 0."""
    table = torch.arange(4, dtype=torch.float64)[:, None] * torch.tensor([1.0, 2.0])
    found = similarity(Encodings("index", None, table))
    assert all(math.isnan(one) for one in (*found.cosines[0], *(row[0] for row in found.cosines)))
    assert [row[1:] for row in found.cosines[1:]] == [pytest.approx([1.0] * 3)] * 3
    assert found.cosine[:3] == pytest.approx([1.0] * 3)
    assert math.isnan(found.cosine[3])


@pytest.mark.parametrize("combine", ["add", "concatenate"])
@pytest.mark.parametrize("position", ["sinusoidal", "learned", "index"])
def test_encodings_are_what_meets_embeddings_of_zero(position: str, combine: str) -> None:
    model = replace(TINY, position=position, position_combine=combine)
    network = build_model(model, 12, 12, 1)
    module = network.source_input.positions
    table = encodings(module, 6, 16)
    zeros = torch.zeros(6, 16)
    own = module.encodings(zeros, 0).double()
    expected = own if combine == "add" else own @ module.projection.weight[:, 16:].double().T
    torch.testing.assert_close(table, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_the_next_encoding_is_a_rotation_of_this_one(layout: str) -> None:
    """Fitted on half the positions, judged on the other half; angles are k times the frequency."""
    found = rotation.measure(replace(TINY, position_layout=layout, position_base=100.0), (1, 7), 200)
    for turn in found.turns:
        assert turn.residual < 1e-12
        assert turn.from_rotation < 1e-12
        assert turn.float32 < 1e-6
        for angle, frequency in zip(turn.angles, found.frequencies, strict=True):
            away = (angle - turn.offset * frequency + math.pi) % (2 * math.pi) - math.pi
            assert abs(away) < 1e-12
    last = 7 if layout == "halves" else 8
    assert found.frequencies == pytest.approx([100 ** -(i / last) for i in range(8)])


def test_a_table_without_the_property_has_a_residual() -> None:
    table = torch.randn(200, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    pairs = rotation._pairs(table, "interleaved")
    turn = rotation._turn(pairs, pairs.float(), torch.ones(8, dtype=torch.float64), 1)
    assert turn.residual > 1
    assert turn.from_rotation > 0.1


def test_ropes_decay_is_derived_and_measured() -> None:
    found = relative.decay(replace(TINY, position="rope"), 12, seed=1)
    assert found.holds
    assert found.derived[0] == found.bound[0] == 1.0
    for offset in range(13):
        cosines = [math.cos(offset * 10000 ** (-2 * i / 8)) for i in range(4)]
        assert found.derived[offset] == pytest.approx(sum(cosines) / 4)
        sums = [complex(0)]
        for i in range(4):
            angle = offset * 10000 ** (-2 * i / 8)
            sums.append(sums[-1] + complex(math.cos(angle), math.sin(angle)))
        assert found.bound[offset] == pytest.approx(sum(abs(one) for one in sums) / sum(range(5)))


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_rope_decays_alike_in_both_layouts(layout: str) -> None:
    assert relative.decay(replace(TINY, position="rope", position_layout=layout), 40, seed=2).holds


@pytest.mark.parametrize("causal", [False, True])
def test_alibis_biases_by_offset(causal: bool) -> None:
    found = relative.biases("alibi", LinearBiases(8, learned=False), "decoder", 8, 5, causal)
    assert found.offsets == list(range(-5, 1 if causal else 6))
    for head, values in enumerate(found.heads):
        assert values == pytest.approx([-abs(offset) / 2 ** (head + 1) for offset in found.offsets])


def test_t5s_buckets_hold_one_distance_each_and_then_more() -> None:
    past = relative.buckets(replace(TINY, position="t5"), "decoder", 200, causal=True)
    by_offset = dict(zip(past.offsets, past.rows, strict=True))
    assert [by_offset[-distance] for distance in range(17)] == list(range(17))
    assert by_offset[-127] == by_offset[-200] == 31
    both = relative.buckets(replace(TINY, position="t5"), "encoder", 5, causal=False)
    assert both.rows == [5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21]


@pytest.mark.parametrize("causal", [False, True])
def test_shaws_vectors_by_offset(causal: bool) -> None:
    network = build_model(replace(TINY, position="shaw", position_clip=3), 12, 12, 1)
    part = network.encoder.layers[1].self_attention.relative
    found = relative.vectors(part, "encoder", 2, causal)
    assert found.offsets == ([-3, -2, -1, 0] if causal else [-3, -2, -1, 0, 1, 2, 3])
    assert found.key_lengths == pytest.approx(
        [float(part.keys[offset + 3].detach().norm()) for offset in found.offsets]
    )
    assert found.value_lengths == pytest.approx(
        [float(part.values[offset + 3].detach().norm()) for offset in found.offsets]
    )
    assert [found.key_cosines[i][i] for i in range(len(found.offsets))] == pytest.approx([1.0] * len(found.offsets))
