from __future__ import annotations

from pathlib import Path

import pytest

from ablatable.data.lines import read_lines, read_pairs
from ablatable.errors import InputError


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_data_02_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    text = written(tmp_path / "text", "one\u2028two\nthree")
    assert list(read_lines(text)) == ["one\u2028two", "three"]
    odd = "a\u0085b\fc\rd\x1ce\v"
    assert list(read_lines(written(tmp_path / "odd", f"{odd}\n\nlast\r\n"))) == [odd, "", "last\r"]


def test_the_first_lines_are_taken(tmp_path: Path) -> None:
    text = written(tmp_path / "text", "a\nb\nc\n")
    assert list(read_lines(text, 2)) == ["a", "b"]
    assert list(read_lines(text, 9)) == ["a", "b", "c"]


@pytest.mark.parametrize(("left", "right"), [("a\nb\nc\n", "a\nb\n"), ("a\nb\n", "a\nb\nc\nd\n"), ("", "a\n")])
def test_data_02_unequal_line_counts_are_named(tmp_path: Path, left: str, right: str) -> None:
    source, target = written(tmp_path / "text.en", left), written(tmp_path / "text.de", right)
    counts = rf"text\.en has {left.count(chr(10))} lines and .*text\.de has {right.count(chr(10))};"
    with pytest.raises(InputError, match=counts):
        list(read_pairs(source, target))


def test_pairs_are_aligned_and_a_prefix_needs_no_equal_rest(tmp_path: Path) -> None:
    source, target = written(tmp_path / "text.en", "a\nb\nc\n"), written(tmp_path / "text.de", "x\ny\n")
    assert list(read_pairs(source, target, 2)) == [("a", "x"), ("b", "y")]


def test_invalid_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"fine\n\xff\n")
    with pytest.raises(InputError, match="text is not UTF-8"):
        list(read_lines(tmp_path / "text"))
