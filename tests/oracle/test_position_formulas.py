"""Sinusoid tables against the formulas, one number at a time."""

import math

import pytest
import torch

from ablatable.nn.positions import SinusoidalPositions, halves, interleaved


@pytest.mark.parametrize("width", [2, 6, 7, 128])
def test_interleaved_equals_the_paper(width: int) -> None:
    table = interleaved(40, width)
    for position in range(40):
        for channel in range(width):
            angle = position / 10000 ** (2 * (channel // 2) / width)
            expected = math.sin(angle) if channel % 2 == 0 else math.cos(angle)
            assert table[position, channel].item() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("width", [4, 6, 7, 128])
def test_halves_equals_the_first_public_code(width: int) -> None:
    table = halves(40, width)
    half = width // 2
    for position in range(40):
        for i in range(half):
            angle = position / 10000 ** (i / (half - 1))
            assert table[position, i].item() == pytest.approx(math.sin(angle), abs=1e-7)
            assert table[position, half + i].item() == pytest.approx(math.cos(angle), abs=1e-7)
        assert width % 2 == 0 or table[position, -1] == 0


def test_pos_01_an_odd_width_ends_in_a_sine() -> None:
    expected = torch.tensor([0.90929743, -0.41614684, 0.05021660, 0.99873835, 0.00126191])
    torch.testing.assert_close(interleaved(3, 5)[2], expected, atol=1e-7, rtol=0)


def test_pos_02_layouts() -> None:
    paper = torch.tensor([0.14112001, -0.98999250, 0.13879810, 0.99032070, 0.00646326, 0.99997911])
    code = torch.tensor([0.14112001, 0.02999550, 0.0003, -0.98999250, 0.99955003, 0.99999996])
    torch.testing.assert_close(interleaved(4, 6)[3], paper, atol=1e-7, rtol=0)
    torch.testing.assert_close(halves(4, 6)[3], code, atol=1e-6, rtol=0)
    assert interleaved(1, 6)[0].tolist() == [0, 1, 0, 1, 0, 1]
    assert interleaved(4, 6)[3].square().sum().item() == pytest.approx(3.0, abs=1e-6)


def test_pos_12_phases_survive_bfloat16() -> None:
    positions = SinusoidalPositions(16, interleaved).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        rows = positions(torch.zeros(1, 2000, 16, dtype=torch.bfloat16))[0]  # longer than the first table
    expected = interleaved(2000, 16).bfloat16()
    assert torch.equal(rows, expected)
    for first in (256, 1256):
        assert not torch.equal(rows[first], rows[first + 1])


@pytest.mark.parametrize("layout", [interleaved, halves])
def test_the_table_grows_and_offsets_count_on(layout) -> None:
    positions = SinusoidalPositions(8, layout)
    long = positions(torch.zeros(1, 1500, 8))[0]
    torch.testing.assert_close(long, layout(1500, 8), atol=0, rtol=0)
    for offset in (0, 6, 7, 8):
        assert torch.equal(positions(torch.zeros(1, 3, 8), offset)[0], long[offset : offset + 3])
    assert not positions.state_dict()
