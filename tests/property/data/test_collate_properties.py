from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ablatable.data.collate import collate
from ablatable.data.packed import open_packed, pack


class Letters:
    size, fingerprint = 200, "letters"

    def encode(self, text: str) -> list[int]:
        return [4 + ord(letter) - ord("a") for letter in text]

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(chr(ord("a") + index - 4) for index in ids if index > 3)


sides = st.text("abcdefgh", max_size=12)


@given(st.data(), st.lists(st.tuples(sides, sides), min_size=1, max_size=12))
def test_a_batch_holds_exactly_its_sentences(data: st.DataObject, pairs: list[tuple[str, str]]) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(pairs) - 1), max_size=8))
    with tempfile.TemporaryDirectory() as folder:
        pack(pairs, Letters(), Letters(), Path(folder), "train", None)
        batch = collate(open_packed(Path(folder), "train"), chosen)
    expected = [pairs[index] for index in chosen]
    assert [Letters().decode(row) for row in batch.source.tolist()] == [source for source, _ in expected]
    for row, (_, text) in zip(batch.target_output.tolist(), expected, strict=True):
        width = len(row) - len(text) - 1
        assert row == [*Letters().encode(text), 3, *[0] * width]
    for row, (_, text) in zip(batch.target_input.tolist(), expected, strict=True):
        width = len(row) - len(text) - 1
        assert row == [2, *Letters().encode(text), *[0] * width]
    assert batch.source_tokens == sum(len(source) + 1 for source, _ in expected)
    assert batch.target_tokens == sum(len(target) + 1 for _, target in expected)
    assert batch.source.shape[1] == max((len(source) for source, _ in expected), default=0) + 1
