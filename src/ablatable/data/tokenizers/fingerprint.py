"""What tells two tokenizers apart: the list of their pieces, not the file they are stored in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def fingerprint(kind: str, normalisation: str, pieces: Sequence[str]) -> str:
    """16 hex characters over kind, normalisation and pieces in the order of their ids, special ones first.

    A model file's bytes would not do: they change with settings that change no segmentation.
    """
    text = "\n".join([kind, normalisation, *pieces])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
