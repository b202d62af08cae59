from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ablatable.config.data import Data
from ablatable.data.corpora import get, local_fingerprint
from ablatable.data.corpora.corpus import split_lines
from ablatable.errors import InputError


def _quiet(message: str) -> None:
    del message


def _write(folder: Path, **texts: str | bytes) -> dict[str, str]:
    paths: dict[str, str] = {}
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths[f"files_{name}"] = str(path)
    return paths


def _texts(**changes: str | bytes) -> dict[str, str | bytes]:
    base: dict[str, str | bytes] = {
        "source_train": "".join(f"train {n}\n" for n in range(10)),
        "target_train": "".join(f"üben {n}\n" for n in range(10)),
        "source_valid": "valid 1\nvalid 2\n",
        "target_valid": "gültig 1\ngültig 2\n",
        "source_test": "test 1\ntest 2\n",
        "target_test": "prüfen 1\nprüfen 2\n",
    }
    return {**base, **changes}


def _data(folder: Path, overlap: str = "refuse", **changes: str | bytes) -> Data:
    return Data(
        corpus="files",
        files_languages="en-de",
        files_overlap=overlap,  # pyright: ignore[reportArgumentType] - pydantic checks it
        **_write(folder, **_texts(**changes)),
    )


def test_files_are_read_as_they_are(tmp_path: Path) -> None:
    data = _data(tmp_path)
    assert local_fingerprint(data, tmp_path / "cache") is not None
    corpus = get(data, tmp_path / "cache", _quiet)
    assert (corpus.source, corpus.target) == ("en", "de")
    assert corpus.pairs("valid") == [("valid 1", "gültig 1"), ("valid 2", "gültig 2")]
    assert corpus.lines("train", "target")[9] == "üben 9"
    assert local_fingerprint(data, tmp_path / "cache") == corpus.fingerprint
    assert corpus.card.splits["train"].source_words == 20


def test_the_fingerprint_follows_the_text_and_not_the_place(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    first, same = _data(tmp_path / "a"), _data(tmp_path / "b")
    other = _data(tmp_path / "c", target_test="prüfen 1\nprüfen 3\n")
    cache = tmp_path / "cache"
    prints = [get(data, cache, _quiet).fingerprint for data in (first, same, other)]
    assert prints[0] == prints[1] != prints[2]


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    before = get(_data(tmp_path), cache, _quiet).fingerprint
    after = get(_data(tmp_path, target_test="prüfen 1\nprüfen nun\n"), cache, _quiet).fingerprint
    assert before != after


def test_data_02_lines_end_at_newlines_only(tmp_path: Path) -> None:
    """DATA-02: U+2028, U+0085 and form feeds do not end a line."""
    assert split_lines("one\u2028two\nthree") == ["one\u2028two", "three"]
    assert len("one\u2028two\nthree".splitlines()) == 3
    corpus = get(
        _data(tmp_path, source_valid="one\u2028two\nthr\u0085ee\x0c!", target_valid="eins\nzwei\n"),
        tmp_path / "cache",
        _quiet,
    )
    assert corpus.lines("valid", "source") == ["one\u2028two", "thr\u0085ee\x0c!"]
    assert corpus.card.splits["valid"].pairs == 2


def test_data_02_different_line_counts_name_both_counts(tmp_path: Path) -> None:
    """DATA-02: a count mismatch is an error that names both counts."""
    with pytest.raises(InputError, match=r"source_valid.txt has 3 lines .*target_valid.txt has 2;"):
        get(_data(tmp_path, source_valid="one\n\ntwo\n"), tmp_path / "cache", _quiet)


def _overlapping(folder: Path, overlap: str) -> Data:
    return _data(
        folder,
        overlap,
        source_test="train 3\ntrain 7\nnew 1\nnew 2\nnew 2\n",
        target_test="üben 3\nüben 7\nneu 1\nneu 2\nneu 2\n",
    )


def test_data_03_overlap_is_refused(tmp_path: Path) -> None:
    """DATA-03: 2 of 5 test pairs are training pairs."""
    with pytest.raises(InputError, match=r"test and train overlap: 2/5 = 40% .*data\.files_overlap=allow"):
        get(_overlapping(tmp_path, "refuse"), tmp_path / "cache", _quiet)


def test_data_03_allowed_overlap_and_duplicates_are_counted(tmp_path: Path) -> None:
    """DATA-03: overlap 2/5 = 40 %, one duplicate."""
    said: list[str] = []
    corpus = get(_overlapping(tmp_path, "allow"), tmp_path / "cache", said.append)
    assert corpus.card.overlap["test"].pairs == 2
    assert corpus.card.overlap["test"].share == pytest.approx(0.4)
    assert corpus.card.splits["test"].duplicates == 1
    assert any("2/5 = 40%" in line for line in said)
    assert any("test holds 1 repeated pairs" in line for line in said)


def test_data_03_overlap_is_refused_from_the_cache_too(tmp_path: Path) -> None:
    """DATA-03: a corpus that was once allowed is still refused by who does not allow it."""
    cache = tmp_path / "cache"
    allowing = _overlapping(tmp_path, "allow")
    get(allowing, cache, _quiet)
    with pytest.raises(InputError, match=r"test and train overlap: 2/5 = 40% .*data\.files_overlap=allow"):
        get(dataclasses.replace(allowing, files_overlap="refuse"), cache, _quiet)
    assert get(allowing, cache, _quiet).card.overlap["test"].pairs == 2


def test_an_empty_training_side_is_dropped_and_counted(tmp_path: Path) -> None:
    corpus = get(_data(tmp_path, source_train="a b\n \nc d\n", target_train="x\ny\nz\n"), tmp_path / "cache", _quiet)
    assert corpus.pairs("train") == [("a b", "x"), ("c d", "z")]
    assert ("dropped from training: empty side", 1) in corpus.card.steps


def test_an_empty_held_out_side_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"target_test.txt: line 2 is empty"):
        get(_data(tmp_path, target_test="eins\n\n"), tmp_path / "cache", _quiet)


def test_invalid_utf8_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"source_train.txt: line 2 is not valid UTF-8 \(byte 0xfc\)"):
        get(_data(tmp_path, source_train=b"good\n\xfcben\n"), tmp_path / "cache", _quiet)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence pairs"):
        get(_data(tmp_path, source_train="", target_train=""), tmp_path / "cache", _quiet)


def test_a_missing_file_names_its_key(tmp_path: Path) -> None:
    data = _data(tmp_path)
    Path(data.files_target_valid or "").unlink()
    for call in (lambda: get(data, tmp_path, _quiet), lambda: local_fingerprint(data, tmp_path)):
        with pytest.raises(InputError, match=r"data\.files_target_valid: .* does not exist"):
            call()


def test_a_folder_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    data = _data(tmp_path)
    Path(data.files_source_test or "").unlink()
    Path(data.files_source_test or "").mkdir()
    with pytest.raises(InputError, match="is not a file"):
        get(data, tmp_path, _quiet)


def test_a_byte_order_mark_and_windows_line_ends_are_not_text(tmp_path: Path) -> None:
    corpus = get(
        _data(tmp_path, source_valid=b"\xef\xbb\xbfone\r\ntwo\r\n"),
        tmp_path / "cache",
        _quiet,
    )
    assert corpus.lines("valid", "source") == ["one", "two"]


def test_a_test_split_may_be_left_out(tmp_path: Path) -> None:
    texts = {key: text for key, text in _texts().items() if not key.endswith("test")}
    data = Data(corpus="files", files_languages="en-de", **_write(tmp_path, **texts))
    corpus = get(data, tmp_path / "cache", _quiet)
    assert corpus.pairs("test") == []
    assert corpus.card.overlap["test"].share == 0.0


def test_the_same_language_twice_is_an_error(tmp_path: Path) -> None:
    data = Data(corpus="files", files_languages="en-en", **_write(tmp_path, **_texts()))
    with pytest.raises(InputError, match="two different language codes"):
        get(data, tmp_path / "cache", _quiet)
