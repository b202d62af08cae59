from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from ablatable.config.data import Data, Tokenizer
from ablatable.config.model import Model
from ablatable.config.schema import Experiment
from ablatable.data.batches import batch_order
from ablatable.data.collate import collate
from ablatable.data.dataset import prepare
from ablatable.data.publish import publish
from ablatable.errors import InputError

PAIRS = 120


def sentences(letters: str, count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join("".join(draw.choices(letters, k=3)) for _ in range(draw.randint(2, 6))) for _ in range(count)]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """Source in a-f, target in u-z; the held-out source has letters that training lacks."""
    files: dict[str, str] = {}
    for number, (split, count) in enumerate((("train", PAIRS), ("valid", 7), ("test", 5))):
        extra = "" if split == "train" else "gh"
        for side, letters in (("source", "abcdef" + extra), ("target", "uvwxyz")):
            path = tmp_path / f"text.{split}.{side}"
            path.write_text("".join(f"{line}\n" for line in sentences(letters, count, number)), encoding="utf-8")
            files[f"files_{side}_{split}"] = str(path)
    data = Data(corpus="files", files_languages="en-de", **files)  # pyright: ignore[reportArgumentType]
    return Experiment(data=data, tokenizer=Tokenizer(size=40))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def changed(experiment: Experiment, section: str, **values: object) -> Experiment:
    return dataclasses.replace(experiment, **{section: dataclasses.replace(getattr(experiment, section), **values)})


def test_a_batch_decodes_to_its_text(experiment: Experiment, cache: Path) -> None:
    dataset = prepare(experiment, cache)
    sources, targets = (dataset.corpus.lines("train", side) for side in ("source", "target"))
    assert (len(dataset.train), len(dataset.valid), len(dataset.test)) == (PAIRS, 7, 5)
    (indices, *_) = batch_order(dataset.train.source_lengths, dataset.train.target_lengths, 200, seed=1, epoch=0)
    batch = collate(dataset.train, indices)
    for index, source, target in zip(indices, batch.source.tolist(), batch.target_output.tolist(), strict=True):
        assert dataset.source_tokenizer.decode(source) == sources[index]
        assert dataset.target_tokenizer.decode(target) == targets[index]


def test_references_are_the_untouched_lines(experiment: Experiment, cache: Path) -> None:
    dataset = prepare(experiment, cache)
    assert experiment.data.files_target_test is not None
    written = Path(experiment.data.files_target_test).read_text(encoding="utf-8")
    assert dataset.references("test") == written.splitlines()
    assert dataset.sources("valid") == dataset.corpus.lines("valid", "source")
    assert len(dataset.references("test")) == len(dataset.packed("test")) == 5


def test_a_shared_vocabulary_is_one_tokenizer_of_both_sides(experiment: Experiment, cache: Path) -> None:
    dataset = prepare(experiment, cache)
    assert dataset.source_tokenizer is dataset.target_tokenizer
    assert dataset.source_tokenizer.size == 40
    assert 1 not in dataset.source_tokenizer.encode("abc xyz")
    assert dataset.tokenizer_fingerprint == dataset.source_tokenizer.fingerprint


def test_separate_vocabularies_know_their_own_side(experiment: Experiment, cache: Path) -> None:
    model = Model(tying="decoder")
    dataset = prepare(changed(dataclasses.replace(experiment, model=model), "tokenizer", sharing="separate"), cache)
    assert 1 not in dataset.source_tokenizer.encode("abc")
    assert 1 not in dataset.target_tokenizer.encode("xyz")
    assert 1 in dataset.source_tokenizer.encode("xyz")
    assert 1 in dataset.target_tokenizer.encode("abc")
    source, target = dataset.source_tokenizer.fingerprint, dataset.target_tokenizer.fingerprint
    assert dataset.tokenizer_fingerprint == f"{source}+{target}"
    assert source != target


def test_the_tokenizer_sees_the_training_side_only(experiment: Experiment, cache: Path) -> None:
    dataset = prepare(experiment, cache)
    assert 1 in dataset.source_tokenizer.encode("g")
    stats = dataset.stats
    assert (stats["train"].source.unknown, stats["train"].target.unknown) == (0, 0)
    text = "".join(dataset.sources("valid"))
    assert stats["valid"].source.unknown > 0
    assert stats["valid"].source.unknown <= text.count("g") + text.count("h")


def test_the_first_pairs_are_taken_for_tokenizer_and_training(experiment: Experiment, cache: Path) -> None:
    first = prepare(changed(experiment, "data", train_pairs=30), cache)
    everything = prepare(experiment, cache)
    assert (len(first.train), len(first.valid)) == (30, 7)
    assert first.source_tokenizer.fingerprint != everything.source_tokenizer.fingerprint
    lines = first.corpus.lines("train", "source")[:30]
    assert [first.source_tokenizer.decode(first.train.source(index).tolist()) for index in range(30)] == lines


def test_more_pairs_than_there_are_is_refused(experiment: Experiment, cache: Path) -> None:
    assert len(prepare(changed(experiment, "data", train_pairs=PAIRS), cache).train) == PAIRS
    with pytest.raises(InputError, match=rf"data\.train_pairs=121 is more than the {PAIRS} training pairs"):
        prepare(changed(experiment, "data", train_pairs=121), cache)


def test_long_training_pairs_are_dropped_and_held_out_ones_kept(experiment: Experiment, cache: Path) -> None:
    everything = prepare(experiment, cache)
    short = prepare(changed(experiment, "data", max_length=8), cache)
    longest = [max(pair) for pair in zip(everything.train.source_lengths, everything.train.target_lengths, strict=True)]
    assert short.train.stats.dropped == sum(length > 8 for length in longest) > 0
    assert len(short.train) == PAIRS - short.train.stats.dropped
    assert (len(short.valid), len(short.test)) == (7, 5)
    assert short.valid.source_lengths.max() > 8
    assert short.source_tokenizer.fingerprint == everything.source_tokenizer.fingerprint


def test_dropping_every_pair_is_refused_and_leaves_nothing(experiment: Experiment, cache: Path) -> None:
    with pytest.raises(InputError, match=rf"data\.max_length=1 drops all {PAIRS} training pairs"):
        prepare(changed(experiment, "data", max_length=1), cache)
    assert not [path for path in (cache / "packed").iterdir() if path.is_dir()]


def test_the_longest_sentences_count_their_end_mark(experiment: Experiment, cache: Path) -> None:
    dataset = prepare(experiment, cache)
    splits = (dataset.train, dataset.valid, dataset.test)
    assert dataset.max_source_length == 1 + max(split.source_lengths.max() for split in splits)
    assert dataset.max_target_length == 1 + max(split.target_lengths.max() for split in splits)
    batches = [collate(split, range(len(split))) for split in splits]
    assert dataset.max_source_length == max(batch.source.shape[1] for batch in batches)
    assert dataset.max_target_length == max(batch.target_input.shape[1] for batch in batches)


@pytest.mark.parametrize(("size", "limit"), [(10_000, "the limit for bpe is"), (10, "it needs 17;")])
def test_tok_01_and_02_an_impossible_size_is_refused(
    experiment: Experiment, cache: Path, size: int, limit: str
) -> None:
    with pytest.raises(InputError, match=rf"tokenizer\.size={size} .*{limit}"):
        prepare(changed(experiment, "tokenizer", size=size), cache)


def folders(cache: Path, kind: str) -> set[str]:
    return {path.name for path in (cache / kind).iterdir() if path.is_dir()}


def test_the_cache_is_used_again_and_keyed_by_what_matters(experiment: Experiment, cache: Path) -> None:
    prepare(experiment, cache)
    (packed,) = folders(cache, "packed")
    written = {path: path.stat().st_mtime_ns for path in (cache / "packed" / packed).iterdir()}
    prepare(changed(experiment, "train", updates=7), cache)
    assert {path: path.stat().st_mtime_ns for path in (cache / "packed" / packed).iterdir()} == written
    assert len(folders(cache, "tokenizers")) == 1

    prepare(changed(experiment, "data", max_length=8), cache)
    assert (len(folders(cache, "tokenizers")), len(folders(cache, "packed"))) == (1, 2)
    for section, values in (
        ("tokenizer", {"size": 41}),
        ("tokenizer", {"kind": "unigram"}),
        ("tokenizer", {"normalisation": "nmt_nfkc"}),
        ("data", {"train_pairs": 100}),
    ):
        before = len(folders(cache, "tokenizers"))
        prepare(changed(experiment, section, **values), cache)
        assert len(folders(cache, "tokenizers")) == before + 1


def test_statistics_lie_beside_the_arrays(experiment: Experiment, cache: Path) -> None:
    dataset = prepare(experiment, cache)
    (packed,) = folders(cache, "packed")
    stored = json.loads((cache / "packed" / packed / "train.json").read_text(encoding="utf-8"))
    assert stored["pairs"] == PAIRS
    assert stored["source"]["pieces"] == dataset.train.source_lengths.sum()


def test_two_preparations_give_the_same_arrays(experiment: Experiment, tmp_path: Path) -> None:
    contents: list[dict[str, bytes]] = []
    for name in ("one", "two"):
        prepare(experiment, tmp_path / name)
        contents.append({path.name: path.read_bytes() for path in (tmp_path / name / "packed").glob("*/*")})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 15


# --- kills and races: real processes ---


def _build_slowly(folder: Path, started: Path, seconds: float) -> None:
    def build(partial: Path) -> None:
        with started.open("a", encoding="utf-8") as file:
            file.write("built\n")
        (partial / "first").write_text("1", encoding="utf-8")
        time.sleep(seconds)
        (partial / "second").write_text("2", encoding="utf-8")

    publish(folder, build)


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_builder_leaves_nothing_that_looks_finished(tmp_path: Path) -> None:
    folder, started = tmp_path / "packed" / "key", tmp_path / "started"
    process = multiprocessing.get_context("fork").Process(target=_build_slowly, args=(folder, started, 60.0))
    process.start()
    _wait_for(started)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert not folder.exists()

    _build_slowly(folder, started, 0.0)
    assert sorted(path.name for path in folder.iterdir()) == ["first", "second"]
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["key"]


def test_two_processes_build_once(tmp_path: Path) -> None:
    folder, started = tmp_path / "packed" / "key", tmp_path / "started"
    processes = [
        multiprocessing.get_context("fork").Process(target=_build_slowly, args=(folder, started, 0.3)) for _ in "ab"
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert started.read_text(encoding="utf-8") == "built\n"
    assert sorted(path.name for path in folder.iterdir()) == ["first", "second"]


def test_a_builder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build(partial: Path) -> None:
        (partial / "half").write_text("1", encoding="utf-8")
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        publish(tmp_path / "key", build)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
