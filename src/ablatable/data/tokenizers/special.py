"""The four ids every vocabulary shares, on both sides. ``ids != PAD`` is the keep-mask."""

from __future__ import annotations

PAD = 0
UNK = 1
BOS = 2
EOS = 3
FIRST_PIECE = 4

NAMES = ("<pad>", "<unk>", "<s>", "</s>")
"""What lists of pieces show at these ids; text that reads like them is text."""
