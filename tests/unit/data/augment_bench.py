"""A packed training text of made-up words, with a tokenizer that knows other segmentations."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ablatable.data.augment import Augmentation, Sampling
from ablatable.data.packed import PackedPairs, open_packed, pack
from ablatable.data.tokenizers.build import KINDS
from ablatable.data.tokenizers.protocol import Sampler


@dataclass(frozen=True)
class Bench:
    """Lines, their tokenizer (for both sides) and the packed pairs."""

    lines: list[tuple[str, str]]
    tokenizer: Sampler
    pairs: PackedPairs

    def sampling(self, rate: float = 0.2, longest: int = 1000) -> Sampling:
        return Sampling(self.tokenizer, self.tokenizer, rate, longest)

    def augmentation(self, **settings: Any) -> Augmentation:
        return Augmentation(1, **settings)


def made_up(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefgij", k=draw.randint(2, 6))) for _ in range(40)]
    return [" ".join(draw.choices(words, k=draw.randint(2, 7))) for _ in range(count)]


def bench(folder: Path, kind: str = "bpe", pairs: int = 200) -> Bench:
    sources, targets = made_up(pairs, 1), made_up(pairs, 2)
    model = KINDS[kind].train([*sources, *targets], 150 if kind == "bpe" else 80, "identity")
    tokenizer = KINDS[kind].load(model, "identity")
    assert isinstance(tokenizer, Sampler)
    lines = list(zip(sources, targets, strict=True))
    pack(lines, tokenizer, tokenizer, folder, "train", None)
    return Bench(lines, tokenizer, open_packed(folder, "train"))
