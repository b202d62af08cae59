"""Each kind of tokenizer against its definition, one piece at a time; no text is normalised here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from ablatable.data.tokenizers.build import KINDS
from ablatable.data.tokenizers.special import UNK

SPACE = "▁"


def _text() -> list[str]:
    draw = random.Random(3)
    words = ["".join(draw.choices("abcdefgij", k=draw.randint(1, 6))) for _ in range(150)]
    return [" ".join(draw.choices(words, k=6)) + draw.choice([".", "!", ", hm.", ""]) for _ in range(300)]


def _byte_pairs(tokenizer: Any, line: str) -> list[str]:
    """Merge the neighbours whose piece was made first, again and again (Sennrich et al. 2016)."""
    rank = {piece: index for index, piece in enumerate(tokenizer.pieces())}
    parts = list((SPACE + line).replace(" ", SPACE))
    while known := [(rank[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in rank]:
        _, at = min(known)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def _unigram(tokenizer: Any, line: str) -> list[str]:
    """The pieces of the greatest product of probabilities (Kudo 2018, equation 3), over all ways to cut."""
    score = {
        piece: tokenizer._processor.get_score(index) for index, piece in enumerate(tokenizer.pieces()) if index > 3
    }
    text = (SPACE + line).replace(" ", SPACE)
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for end in range(1, len(text) + 1):
        ways = [
            (best[start][0] + score[text[start:end]], [*best[start][1], text[start:end]])
            for start in range(end)
            if text[start:end] in score
        ]
        best.append(max(ways, default=(-math.inf, [])))
    return best[-1][1]


def _wordpiece(tokenizer: Any, line: str) -> list[str]:
    """The longest piece that matches, again and again (Wu et al. 2016); ``##`` continues a word."""
    known, found = set(tokenizer.pieces()), []
    for word in line.split(" "):
        begin = 0
        while begin < len(word):
            mark = "##" if begin else ""
            end = next(n for n in range(len(word), begin, -1) if mark + word[begin:n] in known)
            found.append(mark + word[begin:end])
            begin = end
    return found


def _words(tokenizer: Any, line: str) -> list[str]:
    """Runs of letters, and every other character alone; a space belongs to what follows it."""
    found: list[str] = []
    for before, character in zip(" " + line, line, strict=False):
        if character == " ":
            continue
        if character.isalnum() and before.isalnum():
            found[-1] += character
        else:
            found.append((" " if before == " " else "") + character)
    return found


DEFINITIONS: dict[str, Callable[[Any, str], list[str]]] = {
    "bpe": _byte_pairs,
    "unigram": _unigram,
    "wordpiece": _wordpiece,
    "word": _words,
    "character": lambda _, line: list(line),
    "byte": lambda _, line: [f"<0x{byte:02X}>" for byte in line.encode()],
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_cut_as_its_definition_says(kind: str) -> None:
    lines = _text()
    size = 120 if kind in ("bpe", "unigram", "wordpiece") else 1000
    tokenizer: Any = KINDS[kind].load(KINDS[kind].train(lines, size, "identity"), "identity")
    for line in lines[:60]:
        ids = tokenizer.encode(line)
        assert UNK not in ids
        assert [tokenizer.pieces()[index] for index in ids] == DEFINITIONS[kind](tokenizer, line)


def test_words_are_in_the_order_of_their_frequency() -> None:
    """Of a closed vocabulary too small for the text the most frequent units are kept (Bahdanau et al. 2015)."""
    lines = ["b a b c", "b a"]
    tokenizer: Any = KINDS["word"].load(KINDS["word"].train(lines, 6, "identity"), "identity")
    assert tokenizer.pieces()[4:] == [" b", " a"]
