"""Parallel text by name: how each corpus is got, cleaned, split and described."""

from ablatable.data.corpora.corpus import SPLITS, Card, Corpus
from ablatable.data.corpora.library import get, local_fingerprint

__all__ = ["SPLITS", "Card", "Corpus", "get", "local_fingerprint"]
