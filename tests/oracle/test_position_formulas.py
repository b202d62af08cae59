"""Encodings that meet the embeddings, against their formulas, one number at a time."""

import math
from dataclasses import replace

import pytest
import torch

from ablatable.config.model import Model
from ablatable.nn.init import initialise
from ablatable.nn.positions import (
    KINDS,
    IndexPositions,
    LearnedPositions,
    SinusoidalPositions,
    halves,
    interleaved,
)

SMALL = Model(layers=1, d_model=6, d_ff=4, heads=1, position_max=40)
KINDS_AND_LAYOUTS = [
    {"position": "sinusoidal", "position_layout": "interleaved"},
    {"position": "sinusoidal", "position_layout": "halves", "position_base": 50.0},
    {"position": "learned"},
    {"position": "index"},
]


def _positions(changes: dict[str, object]) -> torch.nn.Module:
    model = replace(SMALL, **changes)
    positions = KINDS[model.position](model)
    initialise(positions, seed=3)
    return positions.double()


@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize("width", [2, 6, 7, 128])
def test_interleaved_equals_the_paper(width: int, base: float) -> None:
    table = interleaved(40, width, base)
    for position in range(40):
        for channel in range(width):
            angle = position / base ** (2 * (channel // 2) / width)
            expected = math.sin(angle) if channel % 2 == 0 else math.cos(angle)
            assert table[position, channel].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize("width", [4, 6, 7, 128])
def test_halves_equals_the_first_public_code(width: int, base: float) -> None:
    table = halves(40, width, base)
    half = width // 2
    for position in range(40):
        for i in range(half):
            angle = position / base ** (i / (half - 1))
            assert table[position, i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position, half + i].item() == pytest.approx(math.cos(angle), abs=1e-12)
        assert width % 2 == 0 or table[position, -1] == 0


def test_pos_01_an_odd_width_ends_in_a_sine() -> None:
    expected = torch.tensor([0.90929743, -0.41614684, 0.05021660, 0.99873835, 0.00126191])
    torch.testing.assert_close(interleaved(3, 5)[2].float(), expected, atol=1e-7, rtol=0)


def test_pos_02_layouts() -> None:
    paper = torch.tensor([0.14112001, -0.98999250, 0.13879810, 0.99032070, 0.00646326, 0.99997911])
    code = torch.tensor([0.14112001, 0.02999550, 0.0003, -0.98999250, 0.99955003, 0.99999996])
    torch.testing.assert_close(interleaved(4, 6)[3].float(), paper, atol=1e-7, rtol=0)
    torch.testing.assert_close(halves(4, 6)[3].float(), code, atol=1e-6, rtol=0)
    assert interleaved(1, 6)[0].tolist() == [0, 1, 0, 1, 0, 1]
    assert interleaved(4, 6)[3].square().sum().item() == pytest.approx(3.0, abs=1e-6)


def test_pos_12_phases_survive_bfloat16() -> None:
    positions = SinusoidalPositions(16, interleaved).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        rows = positions(torch.zeros(1, 2000, 16, dtype=torch.bfloat16))[0]  # longer than the first table
    expected = interleaved(2000, 16).float().bfloat16()
    assert torch.equal(rows, expected)
    for first in (256, 1256):
        assert not torch.equal(rows[first], rows[first + 1])


@pytest.mark.parametrize("layout", [interleaved, halves])
@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
def test_the_table_grows_and_offsets_count_on(layout, precision) -> None:
    positions = SinusoidalPositions(8, layout).to(precision)
    long = positions(torch.zeros(1, 1500, 8, dtype=precision))[0]
    torch.testing.assert_close(long, layout(1500, 8).to(precision), atol=0, rtol=0)
    for offset in (0, 6, 7, 8):
        assert torch.equal(positions(torch.zeros(1, 3, 8, dtype=precision), offset)[0], long[offset : offset + 3])
    assert not positions.state_dict()


def _encoding(changes: dict[str, object], positions: torch.nn.Module, position: int) -> list[float]:
    """What stands for one position, from the formula of that name."""
    if changes["position"] == "learned":
        assert isinstance(positions, LearnedPositions)
        return positions.weight[position].tolist()
    if changes["position"] == "index":
        assert isinstance(positions, IndexPositions)
        direction = positions.direction
        return [float(position)] if direction is None else [position * float(w) for w in direction]
    base = float(str(changes.get("position_base", 10000.0)))
    if changes.get("position_layout") == "halves":
        angles = [position / base ** (i / 2) for i in range(3)]
        return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
    return [(math.sin, math.cos)[c % 2](position / base ** (2 * (c // 2) / 6)) for c in range(6)]


@pytest.mark.parametrize("offset", [0, 5])
@pytest.mark.parametrize("combine", ["add", "concatenate"])
@pytest.mark.parametrize("changes", KINDS_AND_LAYOUTS, ids=str)
@torch.no_grad()
def test_each_kind_is_added_or_concatenated_as_its_formula_says(
    changes: dict[str, object], combine: str, offset: int
) -> None:
    positions = _positions(changes | {"position_combine": combine})
    x = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = torch.empty_like(x)
    for b in range(2):
        for t in range(4):
            encoding = _encoding(changes, positions, offset + t)
            if combine == "add":
                expected[b, t] = x[b, t] + torch.tensor(encoding, dtype=torch.float64)
            else:
                row = [*x[b, t].tolist(), *encoding]
                matrix = positions.projection.weight
                assert matrix.shape == (6, len(row))
                assert positions.projection.bias is None
                for d in range(6):
                    expected[b, t, d] = sum(float(matrix[d, i]) * row[i] for i in range(len(row)))
    torch.testing.assert_close(positions(x, offset), expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(positions.float()(x.float(), offset), expected.float(), atol=1e-5, rtol=1e-6)


def test_the_number_itself_is_one_channel_or_a_trained_direction() -> None:
    beside, added = (
        _positions({"position": "index", "position_combine": "concatenate"}),
        _positions({"position": "index"}),
    )
    assert {name: tuple(p.shape) for name, p in beside.named_parameters()} == {"projection.weight": (6, 7)}
    assert {name: tuple(p.shape) for name, p in added.named_parameters()} == {"direction": (6,)}


def test_initial_values_of_a_direction_have_the_variance_of_an_embedding() -> None:
    positions = IndexPositions(4096)
    initialise(positions, seed=1)
    assert positions.direction is not None
    assert positions.direction.std().item() == pytest.approx(1 / 64, rel=0.05)


def test_pos_12_numbers_are_counted_exactly_before_they_are_rounded() -> None:
    positions = IndexPositions(1).bfloat16()
    with torch.no_grad():
        positions.direction.fill_(1.25)
    rows = positions(torch.zeros(1, 5, 1, dtype=torch.bfloat16), 255).flatten()
    assert rows[1] != rows[2]  # 257 is 256 in bfloat16
    assert rows.tolist() == (torch.arange(255, 260) * 1.25).bfloat16().tolist()
