"""The corpus ``toy-en-de``: distinct sentences of the grammar, split without near-duplicates."""

from __future__ import annotations

from ablatable.data.corpora.corpus import Draft
from ablatable.data.corpora.splitting import hold_out
from ablatable.data.corpora.toy import RECIPE
from ablatable.data.corpora.toy.grammar import Grammar

DRAWN = 54_000
HELD_OUT = 1000


def draw_pairs(count: int) -> list[tuple[str, str]]:
    """Return ``count`` pairs with distinct English sides, always the same ones."""
    grammar = Grammar(f"toy-en-de {RECIPE}")
    found: dict[str, str] = {}
    while len(found) < count:
        source, target = grammar.sentence()
        found.setdefault(source, target)
    return list(found.items())


def build() -> Draft:
    """Make the corpus; takes seconds and needs nothing but Python."""
    pairs = draw_pairs(DRAWN)
    splits = hold_out(pairs, valid=HELD_OUT, test=HELD_OUT)
    steps = [("distinct sentences", len(pairs))]
    steps += [(f"dropped from training: {reason}", count) for reason, count in splits.dropped.items()]
    return Draft("a grammar of our own, made by Ablatable", "MIT", RECIPE, splits.named(), steps=steps)
