"""How the kinds that are no more than a list of pieces are kept: a JSON list, in the order of the ids from 4 on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast


def pack_pieces(pieces: Sequence[str]) -> bytes:
    """Return the stored form of a list of pieces, the special ones left out."""
    return json.dumps(list(pieces), ensure_ascii=False, indent=0).encode()


def unpack_pieces(model: bytes) -> list[str]:
    """Inverse of ``pack_pieces``.

    Raises:
        ValueError: the bytes are no list of distinct pieces.
    """
    stored: object = json.loads(model)
    pieces = cast(list[Any], stored) if isinstance(stored, list) else []
    if not pieces or not all(isinstance(piece, str) for piece in pieces) or len(set(pieces)) != len(pieces):
        raise ValueError("not a list of distinct pieces")
    return pieces
