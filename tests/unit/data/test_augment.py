"""What an epoch does to the training text: pure in (seed, epoch, sentence), on the training side alone."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from augment_bench import Bench, bench
from torch.utils.data import DataLoader, Dataset

from ablatable.config.layers import build, from_overrides
from ablatable.config.tree import leaves
from ablatable.data import draws
from ablatable.data.augment import Augmentation, WordNoise, augmentation_of
from ablatable.data.collate import collate
from ablatable.data.packed import PackedPairs
from ablatable.data.tokenizers.build import KINDS
from ablatable.data.tokenizers.special import EOS, PAD, UNK
from ablatable.errors import InputError


@pytest.fixture(scope="module")
def bpe(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp("bpe"))


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def text(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp(request.param), request.param)


def sentences(pairs: PackedPairs) -> list[tuple[list[int], list[int]]]:
    return [(pairs.source(i).tolist(), pairs.target(i).tolist()) for i in range(len(pairs))]


# --- sub-word sampling (the draws themselves: test_sampling.py) ---


def test_tok_13_a_sample_is_its_seeds_and_nothing_elses(text: Bench) -> None:
    ids = [text.pairs.source(i).tolist() for i in range(50)]
    first = [text.tokenizer.sample(one, 0.2, seed) for seed, one in enumerate(ids)]
    other = [text.tokenizer.sample(one, 0.2, seed + 1000) for seed, one in enumerate(ids)]
    again = [text.tokenizer.sample(one, 0.2, seed) for seed, one in reversed(list(enumerate(ids)))][::-1]
    assert first == again
    assert first != other
    assert first != ids


def test_sampled_sentences_say_the_same_in_other_pieces(text: Bench) -> None:
    epoch = text.augmentation(sampling=text.sampling()).epoch(text.pairs, 0).pairs
    for (source, target), (left, right) in zip(text.lines, sentences(epoch), strict=True):
        assert text.tokenizer.decode(left) == source
        assert text.tokenizer.decode(right) == target
    assert epoch.source_lengths.sum() > 1.02 * text.pairs.source_lengths.sum()
    assert epoch.target_lengths.sum() > 1.02 * text.pairs.target_lengths.sum()
    assert epoch.source_lengths.tolist() == [len(left) for left, _ in sentences(epoch)]
    assert epoch.source_side.ids.dtype == text.pairs.source_side.ids.dtype


def test_epochs_and_seeds_differ_and_repeat(text: Bench) -> None:
    augmentation = text.augmentation(sampling=text.sampling())
    zero, one = (sentences(augmentation.epoch(text.pairs, number).pairs) for number in (0, 1))
    assert zero != one
    assert one == sentences(augmentation.epoch(text.pairs, 1).pairs)
    assert one != sentences(dataclasses.replace(augmentation, seed=2).epoch(text.pairs, 1).pairs)


def test_a_sentence_is_cut_the_same_whatever_stands_around_it(bpe: Bench, tmp_path: Path) -> None:
    fewer = bench(tmp_path, pairs=200)
    first = dataclasses.replace(
        fewer.pairs.source_side, offsets=fewer.pairs.source_side.offsets[:51], ids=fewer.pairs.source_side.ids
    )
    shortened = dataclasses.replace(fewer.pairs, source_side=first)
    augmentation = bpe.augmentation(sampling=bpe.sampling())
    whole = augmentation.epoch(bpe.pairs, 3).pairs
    part = augmentation.epoch(shortened, 3).pairs
    assert [part.source(i).tolist() for i in range(50)] == [whole.source(i).tolist() for i in range(50)]


def test_max_length_holds_for_sampled_sentences(bpe: Bench) -> None:
    longest = int(max(bpe.pairs.source_lengths.max(), bpe.pairs.target_lengths.max()))
    limited = bpe.augmentation(sampling=bpe.sampling(0.5, longest)).epoch(bpe.pairs, 0).pairs
    free = bpe.augmentation(sampling=bpe.sampling(0.5)).epoch(bpe.pairs, 0).pairs
    assert free.source_lengths.max() > longest >= limited.source_lengths.max()
    assert limited.target_lengths.max() <= longest
    for i in range(len(bpe.pairs)):
        best, sampled = bpe.pairs.source(i).tolist(), free.source(i).tolist()
        assert limited.source(i).tolist() == (sampled if len(sampled) <= longest else best)


def test_a_sentence_with_an_unknown_piece_is_not_cut_anew(bpe: Bench) -> None:
    ids = [*bpe.tokenizer.encode("abcd bcd"), UNK]
    assert all(bpe.tokenizer.sample(ids, 0.9, seed) == ids for seed in range(20))


# --- word noise ---


def block(bench: Bench, noise: WordNoise | None, rows: list[int]) -> np.ndarray[Any, Any]:
    return collate(bench.pairs, rows, noise).source.numpy()


def test_word_dropout_makes_source_pieces_unknown_at_its_rate(bpe: Bench) -> None:
    rows = list(range(200))
    clean, noisy = block(bpe, None, rows), block(bpe, WordNoise(1, 0, 0.2, 0), rows)
    pieces = (clean != PAD) & (clean != EOS)
    dropped = noisy == UNK
    assert (noisy[~dropped] == clean[~dropped]).all()
    assert not (dropped & ~pieces).any()
    count = int(pieces.sum())
    assert abs(dropped.sum() / count - 0.2) < 4 * np.sqrt(0.2 * 0.8 / count)


@pytest.mark.parametrize("swap", [1, 3])
def test_word_swap_moves_no_piece_further_than_k(bpe: Bench, swap: int) -> None:
    """Lample et al. 2018: sorted by i + U(0, k + 1), against a loop."""
    rows = list(range(0, 60, 2))
    clean, noisy = block(bpe, None, rows), block(bpe, WordNoise(1, 4, 0.0, swap), rows)
    furthest = 0
    for number, row in enumerate(rows):
        length = len(bpe.pairs.source(row))
        keys = [place + float(draws.uniform(1, 4, row, place, 1)[0]) * (swap + 1) for place in range(length)]
        order = sorted(range(length), key=lambda place: keys[place])
        furthest = max(furthest, *(abs(new - old) for new, old in enumerate(order)))
        assert noisy[number, :length].tolist() == [clean[number, old] for old in order]
        assert noisy[number, length:].tolist() == clean[number, length:].tolist()
    assert furthest == swap
    assert (noisy != clean).any()


def test_noise_of_a_sentence_is_the_same_in_every_batch_and_new_in_every_epoch(bpe: Bench) -> None:
    noise = WordNoise(1, 0, 0.3, 3)
    alone = [row[row != PAD].tolist() for i in range(30) for row in block(bpe, noise, [i])]
    together = [row[row != PAD].tolist() for row in block(bpe, noise, list(range(29, -1, -1)))][::-1]
    assert alone == together
    later = [row[row != PAD].tolist() for row in block(bpe, WordNoise(1, 1, 0.3, 3), list(range(30)))]
    assert sum(a != b for a, b in zip(alone, later, strict=True)) > 20


def test_the_target_side_and_the_token_counts_are_never_noisy(bpe: Bench) -> None:
    rows = list(range(40))
    clean, noisy = collate(bpe.pairs, rows), collate(bpe.pairs, rows, WordNoise(1, 0, 0.5, 5))
    assert torch.equal(clean.target_input, noisy.target_input)
    assert torch.equal(clean.target_output, noisy.target_output)
    assert (clean.source_tokens, clean.target_tokens) == (noisy.source_tokens, noisy.target_tokens)
    assert not torch.equal(clean.source, noisy.source)


class _Items(Dataset[list[int]]):
    """Four sentences, each its own batch, with the noise of one epoch."""

    def __init__(self, made: Bench, epoch: int) -> None:
        self._text = made.augmentation(word_dropout=0.3, word_swap=3).epoch(made.pairs, epoch)

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> list[int]:
        return self._text.collate([index]).source[0].tolist()


def _epoch(made: Bench, epoch: int, workers: int) -> list[list[int]]:
    return list(
        DataLoader(
            _Items(made, epoch),
            batch_size=None,
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
        )
    )


def test_trn_12_workers_share_no_random_state(bpe: Bench) -> None:
    first, second = _epoch(bpe, 0, 2), _epoch(bpe, 1, 2)
    assert first == _epoch(bpe, 0, 0)
    assert second == _epoch(bpe, 1, 0)
    assert first != second
    draw = draws.uniform(1, 0, np.arange(4), 0, 0).tolist() + draws.uniform(1, 1, np.arange(4), 0, 0).tolist()
    assert len(set(draw)) == 8


def test_draws_are_even_and_keys_matter_by_place() -> None:
    values = draws.uniform(1, 2, np.arange(2000)[:, None], np.arange(50))
    assert values.shape == (2000, 50)
    assert values.min() >= 0.0
    assert values.max() < 1.0
    counts = np.histogram(values, bins=20, range=(0, 1))[0]
    assert ((counts - 5000) ** 2 / 5000).sum() < 43.8  # chi squared, 19 degrees of freedom, p = 0.001
    for axis in (0, 1):
        neighbours = np.corrcoef(values.take(range(49), axis).ravel(), values.take(range(1, 50), axis).ravel())[0, 1]
        assert abs(neighbours) < 0.02
    assert draws.bits(1, 2)[0] != draws.bits(2, 1)[0] != draws.bits(0, 3)[0]


# --- settings ---


def test_settings_become_an_augmentation(bpe: Bench) -> None:
    overrides = ["data.subword_sampling=0.1", "data.word_dropout=0.2", "data.word_swap=3", "data.max_length=40"]
    experiment = build([from_overrides([*overrides, "seed=9"])])
    made = augmentation_of(experiment, bpe.tokenizer, bpe.tokenizer)
    assert (made.seed, made.word_dropout, made.word_swap) == (9, 0.2, 3)
    assert made.sampling is not None
    assert (made.sampling.rate, made.sampling.longest) == (0.1, 40)
    short = build([from_overrides([*overrides, "train.batch_tokens=30"])])
    sampling = augmentation_of(short, bpe.tokenizer, bpe.tokenizer).sampling
    assert sampling is not None
    assert sampling.longest == 29  # a sentence and its end mark fit in a batch
    words = KINDS["word"].load(KINDS["word"].train(["a b"], 10, "identity"), "identity")
    with pytest.raises(TypeError, match="one segmentation"):
        augmentation_of(experiment, words, words)


def test_the_default_is_no_noise_at_all(bpe: Bench) -> None:
    made = augmentation_of(build([]), bpe.tokenizer, bpe.tokenizer)
    assert made == Augmentation(1)
    epoch = made.epoch(bpe.pairs, 5)
    assert epoch.pairs is bpe.pairs
    assert epoch.noise is None


@pytest.mark.parametrize("kind", ["wordpiece", "word", "character", "byte"])
def test_sampling_needs_a_kind_that_knows_other_segmentations(kind: str) -> None:
    with pytest.raises(InputError, match=r"data\.subword_sampling does nothing, it needs tokenizer\.kind=bpe\|unigram"):
        build([from_overrides([f"tokenizer.kind={kind}", "data.subword_sampling=0.1"])])


@pytest.mark.parametrize(
    "word", ["data.subword_sampling=0", "data.subword_sampling=1", "data.word_dropout=1", "data.word_swap=-1"]
)
def test_impossible_rates_are_refused(word: str) -> None:
    with pytest.raises(InputError, match=word.split("=")[0]):
        build([from_overrides([word])])


@pytest.mark.parametrize("path", ["data.subword_sampling", "data.word_dropout", "data.word_swap"])
def test_each_is_an_axis_with_its_source(path: str) -> None:
    axis = leaves()[path].axis
    assert axis is not None
    assert "et al. 20" in axis.section
    assert axis.values
    assert axis.search


def test_an_augmentation_travels_to_another_process(bpe: Bench) -> None:
    made = bpe.augmentation(sampling=bpe.sampling(), word_dropout=0.1)
    sent = pickle.loads(pickle.dumps(made))
    assert sentences(sent.epoch(bpe.pairs, 2).pairs) == sentences(made.epoch(bpe.pairs, 2).pairs)
