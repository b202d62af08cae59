"""Attention as a network computes it, seen from outside: queries, keys and masks of every call, and so its weights.

Recording hangs forward hooks on the attention cores and takes them off again. A network that nobody records has none,
and one that is recorded computes the same numbers: what is kept are the tensors it computed with.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from ablatable.nn.attention import AttentionCore
from ablatable.nn.masks import Mask
from ablatable.nn.relative import Relative

Kind = Literal["encoder-self", "decoder-self", "cross"]
KINDS: tuple[Kind, ...] = ("encoder-self", "decoder-self", "cross")
"""The three attentions of section 3.2.3."""
NAMES: dict[Kind, str] = {
    "encoder-self": "encoder self-attention",
    "decoder-self": "decoder self-attention",
    "cross": "cross-attention",
}
"""What each is called."""


@dataclass(frozen=True)
class Attended:
    """One call of the attention in ``layer`` (from 1), with the tensors of :class:`AttentionCore`, detached.

    ``q`` (B, T, H, K), ``k`` (B, S, H, K), ``v`` (B, S, H, V) and ``context`` (B, T, H, V); ``relative`` and ``offset``
    are what the call got. ``core`` is the network's own: its score's parameters are those of the moment.
    """

    kind: Kind
    layer: int
    core: AttentionCore
    q: Tensor
    k: Tensor
    v: Tensor
    mask: Mask
    relative: Relative | None
    offset: int
    context: Tensor

    def weights(self, core: AttentionCore | None = None) -> Tensor:
        """The attention weights (B, H, T, S) of this call, or those that another core gives these queries and keys."""
        return (core or self.core).weights(self.q, self.k, self.mask, self.relative, self.offset)

    def visible(self) -> Tensor:
        """Which keys each query may see, (B, T, S) bool."""
        keep, empty = self.mask.keep, self.mask.empty
        seen = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=self.q.device) if keep is None else keep
        seen = seen if empty is None else seen & ~empty
        return seen.expand(self.q.shape[0], 1, self.q.shape[1], self.k.shape[1])[:, 0]


@contextmanager
def recording(network: nn.Module) -> Generator[list[Attended], None, None]:
    """Yield a list that grows with every attention ``network`` computes inside, in the order of computing.

    A network without attention cores leaves it empty. Only the last projection, dropout on the weights and the sum over
    values come after what is kept.
    """
    seen: list[Attended] = []
    parts = cast(Iterator[tuple[str, nn.Module]], network.named_modules())
    cores = [(name, part) for name, part in parts if isinstance(part, AttentionCore)]
    handles = [core.register_forward_hook(_keep(name, seen), with_kwargs=True) for name, core in cores]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _keep(name: str, seen: list[Attended]) -> Any:
    kind, layer = _place(name)

    def hook(core: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], context: Tensor) -> None:
        seen.append(_attended(kind, layer, cast(AttentionCore, core), context, *args, **kwargs))

    return hook


def _attended(
    kind: Kind,
    layer: int,
    core: AttentionCore,
    context: Tensor,
    q_BTHK: Tensor,
    k_BSHK: Tensor,
    v_BSHV: Tensor,
    mask: Mask,
    relative: Relative | None = None,
    offset: int = 0,
) -> Attended:
    q, k, v = q_BTHK.detach(), k_BSHK.detach(), v_BSHV.detach()
    return Attended(kind, layer, core, q, k, v, mask, relative, offset, context.detach())


def _place(name: str) -> tuple[Kind, int]:
    """What ``encoder.layers.0.self_attention.core`` is, and its layer, counted from 1."""
    stack, _, layer, attention, _ = name.split(".")
    if attention == "cross_attention":
        return "cross", int(layer) + 1
    return ("encoder-self" if stack == "encoder" else "decoder-self"), int(layer) + 1
