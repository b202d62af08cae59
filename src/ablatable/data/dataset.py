"""Everything a run reads: the corpus, its tokenizers and its token ids, made once and kept in the cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal

from ablatable.config.data import Tokenizer as TokenizerConfig
from ablatable.config.schema import Experiment
from ablatable.data import corpora
from ablatable.data.corpora import Corpus
from ablatable.data.lines import read_lines, read_pairs
from ablatable.data.packed import PackedPairs, SplitStats, open_packed, pack
from ablatable.data.publish import publish
from ablatable.data.tokenizers.build import KINDS, train_tokenizer
from ablatable.data.tokenizers.protocol import Tokenizer
from ablatable.errors import InputError

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")

_TOKENIZER_RECIPE = 1
"""Raise when the same settings would train another tokenizer."""
_PACKED_LAYOUT = 1
"""Raise when the files of a packed folder change."""


@dataclass(frozen=True)
class Dataset:
    """A corpus as token ids. With one shared vocabulary both tokenizers are the same object.

    ``train`` lacks the pairs longer than ``data.max_length``; ``valid`` and ``test`` are complete and in
    file order.
    """

    corpus: Corpus
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    train: PackedPairs
    valid: PackedPairs
    test: PackedPairs

    def packed(self, split: Split) -> PackedPairs:
        """Return the token ids of a split by its name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}[split]

    def references(self, split: Literal["valid", "test"]) -> list[str]:
        """Return the target lines as the corpus has them, never decoded from ids."""
        return list(read_lines(self.corpus.path(split, "target")))

    def sources(self, split: Literal["valid", "test"]) -> list[str]:
        """Return the source lines as the corpus has them."""
        return list(read_lines(self.corpus.path(split, "source")))

    @property
    def tokenizer_fingerprint(self) -> str:
        """One fingerprint for a shared vocabulary, ``source+target`` for two."""
        if self.source_tokenizer is self.target_tokenizer:
            return self.source_tokenizer.fingerprint
        return f"{self.source_tokenizer.fingerprint}+{self.target_tokenizer.fingerprint}"

    @property
    def stats(self) -> dict[Split, SplitStats]:
        """Pairs kept and dropped, pieces, unknowns and lengths of each split."""
        return {split: self.packed(split).stats for split in SPLITS}

    def unknown_rates(self, split: Split) -> tuple[float, float]:
        """Unknown pieces over pieces of a split, end marks not counted: source side, target side."""
        stats = self.packed(split).stats
        return stats.source.unknown_rate, stats.target.unknown_rate

    @cached_property
    def max_source_length(self) -> int:
        """Positions the longest source sentence of any split takes, eos counted."""
        return 1 + max(stats.source.longest for stats in self.stats.values())

    @cached_property
    def max_target_length(self) -> int:
        """Positions the longest target sentence of any split takes, bos or eos counted."""
        return 1 + max(stats.target.longest for stats in self.stats.values())


def prepare(experiment: Experiment, cache: Path) -> Dataset:
    """Return the data of a run, fetching, tokenizing and packing only what the cache lacks.

    Args:
        experiment: its ``data`` and ``tokenizer`` sections are read.
        cache: holds ``corpora/``, ``tokenizers/`` and ``packed/``; processes may share it.

    Raises:
        InputError: the corpus cannot be had, has fewer than ``data.train_pairs`` pairs or unaligned files,
            ``tokenizer.size`` doesn't suit it, or no training pair is within ``data.max_length``.
    """
    corpus = corpora.get(experiment.data, cache)
    _check_train_pairs(corpus, experiment.data.train_pairs)
    source_tokenizer, target_tokenizer = _tokenizers(experiment, corpus, cache)
    folder = _packed(experiment, corpus, source_tokenizer, target_tokenizer, cache)
    train, valid, test = (open_packed(folder, split) for split in SPLITS)
    return Dataset(corpus, source_tokenizer, target_tokenizer, train, valid, test)


def _check_train_pairs(corpus: Corpus, wanted: int | None) -> None:
    available = corpus.card.splits["train"].pairs
    if wanted is not None and wanted > available:
        raise InputError(
            f"data.train_pairs={wanted} is more than the {available} training pairs of {corpus.name}; "
            f"set data.train_pairs={available} or less, or null for all"
        )


def _tokenizers(experiment: Experiment, corpus: Corpus, cache: Path) -> tuple[Tokenizer, Tokenizer]:
    """Train on the training side only, on the pairs the run trains on."""
    config, first = experiment.tokenizer, experiment.data.train_pairs

    def lines(*sides: str) -> Iterator[str]:
        return chain.from_iterable(read_lines(corpus.path("train", side), first) for side in sides)

    def trained(*sides: str) -> Tokenizer:
        key = _tokenizer_key(config, corpus.fingerprint, first, sides)
        return train_tokenizer(lines(*sides), config, cache / "tokenizers" / key)

    if config.sharing == "shared":
        shared = trained("source", "target")
        return shared, shared
    return trained("source"), trained("target")


def _tokenizer_key(config: TokenizerConfig, corpus: str, first: int | None, sides: tuple[str, ...]) -> str:
    versions = "+".join(importlib.metadata.version(package) for package in KINDS[config.kind].packages)
    return _key(_TOKENIZER_RECIPE, versions, corpus, first, sides, config.kind, config.size, config.normalisation)


def _packed(
    experiment: Experiment,
    corpus: Corpus,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    cache: Path,
) -> Path:
    data = experiment.data

    def build(partial: Path) -> None:
        for split in SPLITS:
            first, longest = (data.train_pairs, data.max_length) if split == "train" else (None, None)
            pairs = read_pairs(corpus.path(split, "source"), corpus.path(split, "target"), first)
            stats = pack(pairs, source_tokenizer, target_tokenizer, partial, split, longest)
            if split == "train" and not stats.pairs:
                raise InputError(
                    f"data.max_length={data.max_length} drops all {stats.dropped} training pairs "
                    f"of {corpus.name}; raise it"
                )

    key = _key(
        _PACKED_LAYOUT,
        corpus.fingerprint,
        source_tokenizer.fingerprint,
        target_tokenizer.fingerprint,
        data.train_pairs,
        data.max_length,
    )
    return publish(cache / "packed" / key, build)


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
