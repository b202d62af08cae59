"""The hub's benchmarks, loaded by the real code from local folders of the same layout, with text of our own."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from ablatable.config.catalogue import CORPORA
from ablatable.config.data import Data
from ablatable.data.corpora import get, hub, local_fingerprint
from ablatable.errors import InputError

datasets = pytest.importorskip("datasets", reason="the extra `hub` is not installed")

Rows = list[tuple[str | None, str | None]]
_HELD: dict[str, Rows] = {
    "valid": [
        ("A  valid box.", "Eine  gültige Schachtel."),
        ("Another\r\nvalid box.", "Noch eine\ngültige Schachtel. "),
    ],
    "test": [("A test box.", "Eine Testschachtel."), ("A box.", "Eine Schachtel.")],
}
_TRAIN: Rows = [
    ("One box.", "Eine Schachtel."),
    ("One box.", "Eine Schachtel."),
    ("A box.", "Eine Kiste."),
    ("A test box.", "Eine Testschachtel."),
    ("Nothing.", " "),
    (None, "Nichts."),
    ("One\u2028line.", "Eine\u0085Zeile."),
]


def _quiet(message: str) -> None:
    del message


def _place(root: Path, pattern: str, shards: int) -> list[Path]:
    """Return the files that a pattern of the hub's layout stands for."""
    if "*" not in pattern:
        return [root / pattern]
    return [root / pattern.replace("*", f"{shard:05}-of-{shards:05}") for shard in range(shards)]


def _write(path: Path, rows: Rows, languages: tuple[str, str], column: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [dict(zip(languages, row, strict=True)) for row in rows]
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(cell)}\n" for cell in cells), encoding="utf-8")
        return
    assert column
    features = datasets.Features({column: datasets.Translation(languages=list(languages))})
    datasets.Dataset.from_dict({column: cells}, features=features).to_parquet(path)


def _local(name: str, root: Path, monkeypatch: pytest.MonkeyPatch, **splits: Rows) -> hub.HubText:
    """Write a data set of the hub's layout below ``root`` and let the catalogue's name mean it."""
    entry, text = CORPORA[name], hub.TEXTS[name]
    for split, rows in {"train": _TRAIN, **_HELD, **splits}.items():
        shards = 2 if split == "train" and "*" in text.files[split] else 1
        half = -(-len(rows) // shards)
        for number, path in enumerate(_place(root, text.files[split], shards)):
            _write(path, rows[number * half : (number + 1) * half], (entry.source, entry.target), text.column)
    sizes = {split: (set_name, 2) for split, (set_name, _) in text.held_out.items()}
    local = dataclasses.replace(text, root=str(root), held_out=sizes)
    monkeypatch.setitem(hub.TEXTS, name, local)
    return local


@pytest.mark.parametrize("name", sorted(hub.TEXTS))
def test_a_data_set_of_the_hubs_layout(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _local(name, tmp_path / "hub", monkeypatch)
    cache = tmp_path / "cache"
    said: list[str] = []
    corpus = get(Data(corpus=name), cache, said.append)
    assert (corpus.source, corpus.target) == (CORPORA[name].source, CORPORA[name].target)
    assert corpus.pairs("train") == [
        ("One box.", "Eine Schachtel."),
        ("One box.", "Eine Schachtel."),
        ("A box.", "Eine Kiste."),
        ("One\u2028line.", "Eine\u0085Zeile."),
    ]
    assert corpus.pairs("valid") == [
        ("A  valid box.", "Eine  gültige Schachtel."),
        ("Another valid box.", "Noch eine gültige Schachtel."),
    ]
    assert corpus.pairs("test") == _HELD["test"]
    assert dict(corpus.card.steps) == {
        "valid pairs": 2,
        "test pairs": 2,
        "train pairs": 7,
        "dropped from training: empty side": 2,
        "dropped from training: held-out pair": 1,
    }
    assert corpus.card.splits["train"].duplicates == 1
    assert (corpus.card.overlap["test"].pairs, corpus.card.overlap["test"].sources) == (0, 1)
    assert local_fingerprint(Data(corpus=name), cache) == corpus.fingerprint
    assert not list(cache.glob("hub/*")), "what `datasets` converted is not kept"
    assert not any("do not compare" in line for line in said)


def test_data_03_a_test_pair_in_training_is_dropped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DATA-03: 2 of 5 test pairs in training, 1 repeated test pair: none is trained on, all are scored."""
    test: Rows = [("t 1", "p 1"), ("t 2", "p 2"), ("t 3", "p 3"), ("t 4", "p 4"), ("t 4", "p 4")]
    train: Rows = [*((f"s {n}", f"z {n}") for n in range(8)), ("t 1", "p 1"), ("t 3", "p 3")]
    _local("multi30k-en-de", tmp_path / "hub", monkeypatch, train=train, test=test)
    corpus = get(Data(corpus="multi30k-en-de"), tmp_path / "cache", _quiet)
    assert corpus.card.splits["train"].pairs == 8
    assert ("dropped from training: held-out pair", 2) in corpus.card.steps
    assert corpus.card.splits["test"].pairs == 5
    assert corpus.card.splits["test"].duplicates == 1
    assert corpus.card.overlap["test"].pairs == 0


def test_the_papers_held_out_sets_are_named_and_their_sizes_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hub.TEXTS["wmt14-en-de"].held_out == {"valid": ("newstest2013", 3000), "test": ("newstest2014", 3003)}
    real = hub.TEXTS["wmt14-en-de"].held_out
    text = _local("wmt14-en-de", tmp_path / "hub", monkeypatch)
    monkeypatch.setitem(hub.TEXTS, "wmt14-en-de", dataclasses.replace(text, held_out=real))
    notes = get(Data(corpus="wmt14-en-de"), tmp_path / "cache", _quiet).card.notes
    assert "valid is newstest2013, test is newstest2014" in notes
    assert "test has 2 sentences where newstest2014 has 3,003: scores do not compare with published ones" in notes


def _refused(name: str, tmp_path: Path) -> str:
    with pytest.raises(InputError) as caught:
        get(Data(corpus=name), tmp_path / "cache", _quiet)
    assert "\n" not in str(caught.value)
    assert "data.corpus=files" in str(caught.value)
    assert local_fingerprint(Data(corpus=name), tmp_path / "cache") is None
    return str(caught.value)


def test_an_empty_held_out_side_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _local("multi30k-en-de", tmp_path / "hub", monkeypatch, test=[("a", "b"), ("c", "")])
    assert "sentence 2 of the test split has an empty side" in _refused("multi30k-en-de", tmp_path)


def test_training_without_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _local("multi30k-en-de", tmp_path / "hub", monkeypatch, train=[("a", " "), ("", "b")])
    assert "no training pairs with text on both sides" in _refused("multi30k-en-de", tmp_path)


def test_other_columns_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _local("multi30k-en-de", tmp_path / "hub", monkeypatch)
    for path in (tmp_path / "hub").iterdir():
        path.write_text(path.read_text(encoding="utf-8").replace('"de"', '"deutsch"'), encoding="utf-8")
    assert "has the columns en, deutsch and not de" in _refused("multi30k-en-de", tmp_path)


def test_a_missing_file_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _local("iwslt14-de-en", tmp_path / "hub", monkeypatch)
    _place(tmp_path / "hub", text.files["test"], 1)[0].unlink()
    assert "cannot be read as expected" in _refused("iwslt14-de-en", tmp_path)


def test_a_damaged_file_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _local("wmt14-en-fr", tmp_path / "hub", monkeypatch)
    _place(tmp_path / "hub", text.files["test"], 1)[0].write_bytes(b"not parquet")
    assert "cannot be read as expected" in _refused("wmt14-en-fr", tmp_path)


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "pip install 'ablatable[hub]'" in _refused("wmt14-en-de", tmp_path)


def test_without_a_network_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens on port 9 of this machine: the connection is really tried, and really refused."""
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", "http://127.0.0.1:9")
    assert "the Hugging Face hub, which cannot be reached" in _refused("wmt14-en-de", tmp_path)
