"""A table of fixed numbers that grows with the longest sequence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

_FIRST_ROWS = 512


class GrowingTable:
    """The first rows of an endless table, made in float64 and handed out in the precision of what they meet.

    It is no buffer of its module, so that casting a model leaves the numbers behind the table exact: bfloat16 cannot
    tell position 256 from 257.
    """

    def __init__(self, make: Callable[[int], Tensor]) -> None:
        """Take a function from a number of rows to the table (rows, ...) in float64."""
        self._make = make
        self._table: Tensor | None = None

    def rows(self, first: int, end: int, like: Tensor) -> Tensor:
        """Rows first, ..., end - 1 in the precision and on the device of ``like``; to bfloat16 by way of float32."""
        table = self._table
        if table is None or end > table.shape[0] or table.dtype != like.dtype or table.device != like.device:
            held = _FIRST_ROWS if table is None else table.shape[0]
            # Made outside inference mode even when a search asks first: training multiplies by it later.
            with torch.inference_mode(False):
                table = self._make(held if end <= held else max(end, 2 * held))
                table = (table if like.dtype == torch.float64 else table.float()).to(like.device, like.dtype)
            self._table = table
        return table[first:end]
