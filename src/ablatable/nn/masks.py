"""Which keys a query may see, as one boolean: ``True`` = keep. Causality is decided here and nowhere else.

Shapes: B batch, T queries, S keys. A mask broadcasts to (B, heads, T, S).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mask:
    """A keep-mask in the forms the attention kernels use.

    A query that may see no key would make softmax divide zero by zero. Such a query is listed in ``empty``
    and sees every key in ``keep`` and ``bias``; attention then sets its weights and its context to exactly
    zero, so that neither its output nor any gradient is ever NaN.

    Attributes:
        keep: bool, broadcastable to (B, 1, T, S); None where every key is visible.
        bias: float32 of the same shape, 0 where kept and -inf elsewhere; added to scores.
        empty: bool, broadcastable to (B, 1, T, 1), queries without any key; None where there is none.
    """

    keep: Tensor | None
    bias: Tensor | None
    empty: Tensor | None


EVERYTHING = Mask(None, None, None)
"""Every query sees every key."""


def padding(keep_BS: Tensor) -> Mask:
    """Every query sees the keys that are kept."""
    if _nothing_hidden(keep_BS):
        return EVERYTHING
    return _mask(keep_BS[:, None, None, :])


def within(keep_BT: Tensor, causal: bool, window: int | None = None) -> Mask:
    """What a sequence may see of itself: kept keys, none later than the query where ``causal``, and of ``window``
    positions centred on the query (None: of all).

    Source: section 3.2.3 for causality, section 4 for the neighbourhood of size r.
    """
    if not causal and window is None:
        return padding(keep_BT)
    length = keep_BT.shape[1]
    seen_TT = torch.ones(length, length, dtype=torch.bool, device=keep_BT.device)
    if window is not None:
        seen_TT = seen_TT.tril_(reach(window)).triu_(-reach(window))
    if causal:
        seen_TT = seen_TT.tril_()
    if _nothing_hidden(keep_BT):
        return Mask(seen_TT[None, None], _bias(seen_TT[None, None]), None)
    return _mask(seen_TT & keep_BT[:, None, None, :])


def reach(window: int) -> int:
    """How many positions on either side of its own a query sees in a window of odd size."""
    return (window - 1) // 2


def _nothing_hidden(keep: Tensor) -> bool:
    # Asking a CUDA tensor would make the host wait for the device, so there the general mask is used.
    return keep.device.type == "cpu" and bool(keep.all())


def _mask(keep: Tensor) -> Mask:
    empty = ~keep.any(dim=-1, keepdim=True)
    if keep.device.type == "cpu" and not bool(empty.any()):
        return Mask(keep, _bias(keep), None)
    keep = keep | empty
    return Mask(keep, _bias(keep), empty)


def _bias(keep: Tensor) -> Tensor:
    return torch.zeros(keep.shape, device=keep.device).masked_fill_(~keep, float("-inf"))
