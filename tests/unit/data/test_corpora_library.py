from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ablatable.config.catalogue import CORPORA, NEEDS, CorpusEntry
from ablatable.config.data import Data
from ablatable.data.corpora import SPLITS, get, hub, local_fingerprint
from ablatable.data.corpora.corpus import fingerprint, read_card
from ablatable.data.corpora.library import KINDS
from ablatable.data.corpora.storage import ELSEWHERE, build_folder, locked
from ablatable.errors import InputError, RunFailed
from ablatable.record.files import disk_errors


def _quiet(message: str) -> None:
    del message


@pytest.mark.parametrize(
    ("task", "answer"),
    [("copy", lambda words: words), ("reverse", lambda words: words[::-1]), ("sort", sorted)],
)
def test_synthetic_targets_are_the_task_of_their_source(
    tmp_path: Path, task: str, answer: Callable[[list[str]], list[str]]
) -> None:
    corpus = get(Data(corpus=f"synthetic-{task}"), tmp_path, _quiet)
    seen: set[str] = set()
    for split in ("train", "valid", "test"):
        for source, target in corpus.pairs(split):
            assert target.split() == answer(source.split())
            seen.add(source)
    assert len(seen) == 21_000
    assert corpus.card.overlap["test"].pairs == 0


def test_getting_twice_makes_once(tmp_path: Path) -> None:
    said: list[str] = []
    data = Data(corpus="synthetic-copy")
    assert local_fingerprint(data, tmp_path) is None
    first = get(data, tmp_path, said.append)
    made = len(said)
    second = get(data, tmp_path, said.append)
    assert made > 0
    assert len(said) == made
    assert first == second
    assert local_fingerprint(data, tmp_path) == first.fingerprint


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_pinned_fingerprints_are_sixteen_hex_digits(name: str) -> None:
    pinned = CORPORA[name].fingerprint
    assert pinned is None or (len(pinned) == 16 and int(pinned, 16) >= 0)


@pytest.mark.parametrize(
    ("task", "pinned"),
    [("copy", "2291839859fde6eb"), ("reverse", "0c5721459c54ab8f"), ("sort", "31a2eee79da779b8")],
)
def test_synthetic_text_is_the_same_everywhere(tmp_path: Path, task: str, pinned: str) -> None:
    assert get(Data(corpus=f"synthetic-{task}"), tmp_path, _quiet).fingerprint == pinned
    assert CORPORA[f"synthetic-{task}"].fingerprint == pinned


def test_another_text_than_the_tested_one_warns_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CORPORA, "synthetic-copy", CorpusEntry("xx", "yy", "copied", "0123456789abcdef"))
    said: list[str] = []
    corpus = get(Data(corpus="synthetic-copy"), tmp_path, said.append)
    assert corpus.card.expected_fingerprint == "0123456789abcdef"
    assert [line for line in said if line.startswith("warning: ") and "0123456789abcdef" in line]


def test_an_unknown_corpus_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'toy-en-de'"):
        get(Data(corpus="toy-en-da"), tmp_path, _quiet)
    with pytest.raises(InputError, match="did you mean 'toy-en-de'"):
        local_fingerprint(Data(corpus="toy-en-da"), tmp_path)


def test_every_corpus_of_the_catalogue_has_a_maker() -> None:
    assert set(KINDS) == set(CORPORA)
    assert {entry.needs for entry in CORPORA.values()} == set(NEEDS)
    assert {name for name, entry in CORPORA.items() if entry.needs == "hub"} == set(hub.TEXTS)
    assert all(entry.fingerprint for entry in CORPORA.values() if entry.needs in ("nothing", "apt"))


def test_the_fingerprint_is_that_of_the_text_however_it_was_written(tmp_path: Path) -> None:
    corpus = get(Data(corpus="synthetic-copy"), tmp_path, _quiet)
    assert fingerprint({split: corpus.pairs(split) for split in SPLITS}) == corpus.fingerprint


def test_a_damaged_file_is_named_with_its_remedy(tmp_path: Path) -> None:
    data = Data(corpus="synthetic-sort")
    corpus = get(data, tmp_path, _quiet)
    path = corpus.path("valid", "target")
    path.write_text("cut", encoding="utf-8")
    with pytest.raises(InputError, match=r"valid\.yy: missing or damaged; delete the folder"):
        get(data, tmp_path, _quiet)


def test_an_unreadable_card_is_named_with_its_remedy(tmp_path: Path) -> None:
    data = Data(corpus="synthetic-sort")
    corpus = get(data, tmp_path, _quiet)
    (corpus.folder / "card.json").write_text('{"name": "synthetic-sort"', encoding="utf-8")
    with pytest.raises(InputError, match=r"card\.json: unreadable corpus card; delete the folder"):
        local_fingerprint(data, tmp_path)


def test_the_card_round_trips(tmp_path: Path) -> None:
    corpus = get(Data(corpus="synthetic-sort"), tmp_path, _quiet)
    stored = json.loads((corpus.folder / "card.json").read_text(encoding="utf-8"))
    assert read_card(corpus.folder) == corpus.card
    assert stored["fingerprint"] == corpus.fingerprint
    assert stored["splits"]["valid"]["pairs"] == 500


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full to write to")
    with (
        pytest.raises(RunFailed, match=r"the disk is full: .*ABLATABLE_CACHE"),
        disk_errors(tmp_path, ELSEWHERE),
        open("/dev/full", "w", buffering=1, encoding="utf-8") as device,
    ):
        device.write("text\n")


def test_a_cache_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    path.write_text("not a folder", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot write .*ABLATABLE_CACHE"):
        get(Data(corpus="synthetic-copy"), path, _quiet)


def test_a_builder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half").write_text("half", encoding="utf-8")
        raise InputError("no")

    with pytest.raises(InputError):
        build_folder(tmp_path / "corpus", build)
    assert list(tmp_path.iterdir()) == []


_KILLED = """
import sys, time
from pathlib import Path
from ablatable.data.corpora.storage import build_folder, locked
root = Path(sys.argv[1])
def build(folder):
    (folder / "card.json").write_text("{}")
    (root / "started").write_text("")
    time.sleep(60)
with locked(root / ".lock", print):
    build_folder(root / "corpus", build)
"""


def test_a_killed_builder_leaves_nothing_that_is_believed_and_no_lock(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path)])
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "corpus").exists()
    said: list[str] = []
    with locked(tmp_path / ".lock", said.append):
        build_folder(tmp_path / "corpus", lambda folder: None)
    assert said == []
    assert not list(tmp_path.glob(".corpus.*"))
    assert (tmp_path / "corpus").is_dir()


_GETTER = """
import sys
from pathlib import Path
from ablatable.config.data import Data
from ablatable.data.corpora import get
print(get(Data(corpus="synthetic-reverse"), Path(sys.argv[1])).fingerprint)
"""


def test_two_processes_at_once_make_one_corpus(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _GETTER, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    results = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len({out for out, _ in results}) == 1
    assert sum("making" in err for _, err in results) == 1
    assert len(list((tmp_path / "corpora").glob("synthetic-*"))) == 1
