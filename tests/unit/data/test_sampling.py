"""The draws of sub-word sampling: the same in every process, and distributed as sentencepiece's own."""

from __future__ import annotations

import itertools
import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from augment_bench import Bench, bench, made_up
from scipy.stats import chi2_contingency, chisquare

from ablatable.data.tokenizers.bpe_dropout import BpeDropout
from ablatable.data.tokenizers.build import KINDS
from ablatable.data.tokenizers.protocol import Sampler
from ablatable.data.tokenizers.special import FIRST_PIECE
from ablatable.data.tokenizers.unigram_sampling import UnigramSampling

SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]
CHANCE = 1e-6
"""Of failing with nothing wrong, for a test whose other side is drawn anew each time."""


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def text(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp(request.param), request.param)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_tok_13_every_process_draws_the_same(kind: str, tmp_path: Path) -> None:
    """sentencepiece's own generator does not: a resumed run would have read another text."""
    made = bench(tmp_path, kind)
    model = tmp_path / "model"
    model.write_bytes(KINDS[kind].train([line for pair in made.lines for line in pair], 80, "identity"))
    script = (
        "import sys; from pathlib import Path; from ablatable.data.tokenizers.build import KINDS;"
        "made = KINDS[sys.argv[1]].load(Path(sys.argv[2]).read_bytes(), 'identity');"
        "print([made.sample(made.encode(line), 0.2, seed) for seed, line in enumerate(sys.argv[3:])])"
    )
    command = [sys.executable, "-c", script, kind, str(model), *(source for source, _ in made.lines[:50])]
    drawn = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2", "3")
    }
    assert len(drawn) == 1


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_words_are_cut_as_often_in_each_way_as_sentencepiece_cuts_them(text: Bench, rate: float) -> None:
    processor = cast(Any, text.tokenizer)._processor
    draws = 3000
    for word in ("abcdef", "gijab", "faceb", "aaaa"):
        ids = text.tokenizer.encode(word)
        ours = Counter(tuple(text.tokenizer.sample(ids, rate, seed)) for seed in range(draws))
        theirs = Counter(
            tuple(processor.encode(word, enable_sampling=True, alpha=rate, nbest_size=-1)) for _ in range(draws)
        )
        table = np.array([[ours[way], theirs[way]] for way in ours | theirs])
        rare = table.sum(axis=1) < 20
        table = np.vstack([table[~rare], table[rare].sum(axis=0)]) if rare.any() else table
        table = table[table.sum(axis=1) > 0]
        if len(table) > 1:
            assert chi2_contingency(table).pvalue > CHANCE, (word, ours, theirs)


def test_sentences_are_as_long_as_sentencepiece_makes_them(text: Bench) -> None:
    processor = cast(Any, text.tokenizer)._processor
    lines = made_up(300, 3)
    ours = [len(text.tokenizer.sample(text.tokenizer.encode(line), 0.2, seed)) for seed, line in enumerate(lines)]
    theirs = [len(processor.encode(line, enable_sampling=True, alpha=0.2, nbest_size=-1)) for line in lines]
    gap = np.subtract(ours, theirs)
    assert abs(gap.mean()) < 5 * gap.std(ddof=1) / math.sqrt(len(lines))


@pytest.mark.parametrize("line", ["  two  spaces ", "", " ", "a", "aa  b"])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_white_space_survives(kind: str, line: str) -> None:
    lines = ["  two  spaces ", "aa  b", " a ", "spaces two b aa"] * 5
    made = KINDS[kind].load(KINDS[kind].train(lines, 16, "identity"), "identity")
    assert isinstance(made, Sampler)
    for seed in range(20):
        assert made.decode(made.sample(made.encode(line), 0.5, seed)) == made.decode(made.encode(line))


# --- BPE-dropout ---


def dropout(*merged: str) -> BpeDropout:
    """A vocabulary of characters that merges to ``merged``, the first of them first."""
    letters = sorted(set("".join(merged)))
    pieces = [*SPECIAL, *merged, *letters]
    return BpeDropout(pieces, [0.0] * FIRST_PIECE + [-float(rank) for rank in range(len(pieces) - FIRST_PIECE)])


def cut(bpe: BpeDropout, merged: tuple[str, ...], word: str, *draws: float, rate: float = 0.5) -> list[str]:
    pieces = [*SPECIAL, *merged, *sorted(set("".join(merged)))]
    numbers = iter(draws)
    return [pieces[index] for index in bpe.cut(word, rate, lambda: next(numbers))]


def test_a_merge_is_looked_at_once_and_left_out_below_the_rate() -> None:
    merged = ("ab", "cd", "abcd", "bc")
    bpe = dropout(*merged)
    assert cut(bpe, merged, "abcd", 0.9, 0.9, 0.9) == ["abcd"]
    assert cut(bpe, merged, "abcd", 0.9, 0.9, 0.1) == ["ab", "cd"]
    assert cut(bpe, merged, "abcd", 0.9, 0.1, 0.9) == ["ab", "c", "d"]  # bc is gone with ab: the third draw is idle
    assert cut(bpe, merged, "abcd", 0.1, 0.1, 0.9) == ["a", "bc", "d"]  # ab, cd left out; bc is what is left
    assert cut(bpe, merged, "abcd", 0.1, 0.1, 0.1) == ["a", "b", "c", "d"]
    assert cut(bpe, merged, "abcd", 0.5, 0.5, 0.5) == ["abcd"]  # at the rate is not below it


def test_of_equal_merges_the_left_one_is_first() -> None:
    assert cut(dropout("aa"), ("aa",), "aaa", 0.9) == ["aa", "a"]
    assert cut(dropout("aa"), ("aa",), "aaa", 0.1, 0.9) == ["a", "aa"]


def test_bpe_dropout_leaves_out_merges_at_its_rate(tmp_path: Path) -> None:
    """Provilkov et al. 2020: 0 is plain BPE, 1 is characters; in between sentences grow with the rate."""
    bpe = bench(tmp_path)
    ids = [bpe.pairs.source(i).tolist() for i in range(100)]
    means = [
        np.mean([len(bpe.tokenizer.sample(one, rate, 1000 * k + i)) for k in range(20) for i, one in enumerate(ids)])
        for rate in (0.001, 0.1, 0.3, 0.999)
    ]
    assert means == sorted(means)
    assert means[0] == pytest.approx(np.mean([len(one) for one in ids]), rel=0.01)
    assert means[-1] == pytest.approx(np.mean([len(bpe.tokenizer.decode(one)) + 1 for one in ids]), rel=0.01)


# --- unigram ---


def ways(word: str, pieces: dict[str, float]) -> Iterator[tuple[str, ...]]:
    for marks in itertools.product((False, True), repeat=len(word) - 1):
        places = [0, *(place for place, mark in enumerate(marks, 1) if mark), len(word)]
        way = tuple(word[a:b] for a, b in itertools.pairwise(places))
        if all(piece in pieces for piece in way):
            yield way


@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0, 3.0])
def test_every_segmentation_is_drawn_by_its_probability_to_alpha(alpha: float) -> None:
    """Kudo 2018, section 3.3, over all segmentations, listed one by one here."""
    scores = {"a": -1.0, "b": -2.5, "c": -2.0, "ab": -2.2, "bc": -3.1, "abc": -4.0, "ca": -2.9, "abca": -5.5}
    vocabulary = [*SPECIAL, *scores]
    sampling = UnigramSampling(vocabulary, [0.0] * FIRST_PIECE + list(scores.values()))
    draw = random.Random(7).random
    count = Counter(tuple(vocabulary[index] for index in sampling.cut("abcab", alpha, draw)) for _ in range(20_000))
    every = list(ways("abcab", scores))
    weights = np.exp([alpha * sum(scores[piece] for piece in way) for way in every])
    assert set(count) <= set(every)
    assert chisquare([count[way] for way in every], 20_000 * weights / weights.sum()).pvalue > 1e-4


def test_another_alpha_is_not_answered_from_memory() -> None:
    scores = {"a": -1.0, "b": -1.0, "ab": -9.0}
    sampling = UnigramSampling([*SPECIAL, *scores], [0.0] * FIRST_PIECE + list(scores.values()))
    assert sampling.cut("ab", 5.0, lambda: 0.4) == [4, 5]
    assert sampling.cut("ab", 0.001, lambda: 0.4) == [6]
    assert sampling.cut("ab", 5.0, lambda: 0.4) == [4, 5]


def test_unigram_samples_nearer_the_best_for_a_larger_alpha(tmp_path: Path) -> None:
    """Kudo 2018, section 3.3: alpha towards 0 draws evenly, a large one the best."""
    made = bench(tmp_path, "unigram")
    ids = [made.pairs.source(i).tolist() for i in range(100)]
    changed = [
        sum(made.tokenizer.sample(one, alpha, 100 * k + i) != one for k in range(3) for i, one in enumerate(ids))
        for alpha in (0.01, 0.1, 0.9)
    ]
    assert changed == sorted(changed, reverse=True)
    assert changed[0] > 200 > changed[2]
