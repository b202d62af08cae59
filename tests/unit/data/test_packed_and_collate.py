from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from ablatable.data.collate import collate
from ablatable.data.packed import PackedPairs, open_packed, pack
from ablatable.errors import InputError


class Numbers:
    """A tokenizer whose text is its ids, so that a test says which ids are packed."""

    fingerprint = "numbers"

    def __init__(self, size: int = 100) -> None:
        self.size = size

    def encode(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(map(str, ids))


def packed(folder: Path, pairs: list[tuple[str, str]], max_length: int | None = None, size: int = 100) -> PackedPairs:
    pack(pairs, Numbers(size), Numbers(size), folder, "train", max_length)
    return open_packed(folder, "train")


PAIRS = [("4 5 6", "7 8"), ("", "9"), ("5 1", "6 7 8 1 1")]


def test_what_is_packed_is_read_back(tmp_path: Path) -> None:
    pairs = packed(tmp_path, PAIRS)
    assert len(pairs) == 3
    assert [pairs.source(index).tolist() for index in range(3)] == [[4, 5, 6], [], [5, 1]]
    assert [pairs.target(index).tolist() for index in range(3)] == [[7, 8], [9], [6, 7, 8, 1, 1]]
    assert pairs.source_lengths.tolist() == [3, 0, 2]
    assert pairs.target_lengths.tolist() == [2, 1, 5]
    assert not pairs.source(0).flags.writeable


def test_statistics(tmp_path: Path) -> None:
    stats = packed(tmp_path, PAIRS).stats
    assert (stats.pairs, stats.dropped) == (3, 0)
    assert (stats.source.pieces, stats.source.unknown, stats.source.longest) == (5, 1, 3)
    assert (stats.target.pieces, stats.target.unknown, stats.target.longest) == (8, 2, 5)
    assert stats.target.mean_length == pytest.approx(8 / 3)


def test_pairs_with_a_long_side_are_dropped_and_counted(tmp_path: Path) -> None:
    pairs = packed(tmp_path, [*PAIRS, ("4 4 4 4", "4"), ("4", "4 4 4")], max_length=3)
    assert pairs.source_lengths.tolist() == [3, 0, 1]
    assert pairs.target_lengths.tolist() == [2, 1, 3]
    assert (pairs.stats.pairs, pairs.stats.dropped) == (3, 2)
    assert pairs.stats.target.unknown == 0


@pytest.mark.parametrize(("size", "type_"), [(65_536, np.uint16), (65_537, np.int32)])
def test_ids_take_two_bytes_where_they_fit(tmp_path: Path, size: int, type_: type[np.generic]) -> None:
    pairs = packed(tmp_path, [(str(size - 1), "4")], size=size)
    assert pairs.source(0).tolist() == [size - 1]
    assert pairs.source(0).dtype == type_


def test_packing_in_chunks_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "whole").mkdir()
    whole = packed(tmp_path / "whole", PAIRS * 3, max_length=4)
    monkeypatch.setattr("ablatable.data.packed._CHUNK", 2)
    small = packed(tmp_path / "small", PAIRS * 3, max_length=4)
    assert small.stats == whole.stats
    for name in (
        "train.source.uint16",
        "train.target.uint16",
        "train.source.offsets",
        "train.target.offsets",
    ):
        assert (tmp_path / "small" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_an_empty_split_can_be_packed(tmp_path: Path) -> None:
    pairs = packed(tmp_path, [])
    assert len(pairs) == 0
    assert pairs.source_lengths.tolist() == []


def test_damaged_arrays_are_named(tmp_path: Path) -> None:
    packed(tmp_path, PAIRS)
    ids = tmp_path / "train.target.uint16"
    ids.write_bytes(ids.read_bytes()[:-4])
    with pytest.raises(InputError, match=rf"{tmp_path}: damaged .*train\.target.*delete the folder"):
        open_packed(tmp_path, "train")


def test_data_05_one_mask_for_input_and_labels(tmp_path: Path) -> None:
    """Of [BOS, 5, EOS, PAD]: labels [5, EOS, PAD], mask [1, 1, 0], 2 tokens: eos counted, bos never a label.

    The case's input has EOS at its third place; ours has PAD, so that input and labels share one mask.
    """
    batch = collate(packed(tmp_path, [("4", "5"), ("4", "6 7")]), [0, 1])
    assert batch.target_input.tolist() == [[2, 5, 0], [2, 6, 7]]
    assert batch.target_output.tolist() == [[5, 3, 0], [6, 7, 3]]
    assert (batch.target_output[0] != 0).tolist() == [True, True, False]
    assert torch.equal(batch.target_output != 0, batch.target_input != 0)
    assert batch.target_tokens == 2 + 3
    assert not (batch.target_output == 2).any()
    assert not (batch.target_input == 3).any()


def test_source_ends_with_eos_and_is_padded(tmp_path: Path) -> None:
    batch = collate(packed(tmp_path, PAIRS), np.array([2, 0, 1]))
    assert batch.source.tolist() == [[5, 1, 3, 0], [4, 5, 6, 3], [3, 0, 0, 0]]
    assert batch.source_tokens == 3 + 4 + 1
    assert batch.target_tokens == 6 + 3 + 2
    assert batch.source.dtype == batch.target_input.dtype == batch.target_output.dtype == torch.int64
    assert len(batch) == 3


def test_an_empty_batch_has_no_rows(tmp_path: Path) -> None:
    batch = collate(packed(tmp_path, PAIRS), [])
    assert batch.source.shape == batch.target_input.shape == batch.target_output.shape == (0, 1)
    assert (batch.source_tokens, batch.target_tokens, len(batch)) == (0, 0, 0)


def test_a_batch_moves_to_a_device(tmp_path: Path) -> None:
    batch = collate(packed(tmp_path, PAIRS), [0])
    moved = batch.to("meta")
    assert {moved.source.device.type, moved.target_input.device.type, moved.target_output.device.type} == {"meta"}
    assert moved.target_tokens == batch.target_tokens
