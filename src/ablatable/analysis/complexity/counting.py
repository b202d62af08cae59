"""Operations and dependent steps of a layer, counted while it computes.

Both are seen at the dispatcher, below autograd and every Python class: which products of matrices ran, and whose
results they read. oneDNN's recurrence is one call that hides its steps, so it is switched off here: PyTorch's own
recurrence makes the same products one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

_aten = torch.ops.aten
PRODUCTS = frozenset({_aten.mm, _aten.addmm, _aten.bmm, _aten.baddbmm, _aten.convolution, _aten.mv, _aten.addmv})
"""Products of matrices, as the dispatcher names them."""


def count(forward: Callable[[], Tensor]) -> tuple[int, int]:
    """Operations of one call (two a multiply-add, products alone), and the longest chain of products in it.

    The chain counts how many products had to wait for another one's result, directly or through anything between: the
    minimum number of sequential operations of Table 1, in products.
    """
    with torch.no_grad(), _without_onednn(), _Depth() as depth:
        with FlopCounterMode(display=False) as counter:
            out = forward()
        return counter.get_total_flops(), depth.of(out)


@contextmanager
def _without_onednn() -> Generator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the switch also sets an option of Intel GPUs, and warns where there is none
        with torch.backends.mkldnn.flags(enabled=False):
            yield


class _Depth(TorchDispatchMode):
    """For each memory of a tensor, the most products that followed upon one another to fill it."""

    def __init__(self) -> None:
        super().__init__()
        self._depths: dict[int, int] = {}

    def of(self, tensor: Tensor) -> int:
        return self._depths.get(_memory(tensor), 0)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        read = max((self.of(one) for one in _tensors((args, kwargs))), default=0)
        out = func(*args, **kwargs)
        depth = read + (func.overloadpacket in PRODUCTS)
        # A view and what is written in place have their memory among what was read, so nothing known is lost here;
        # memory that was freed and given out again starts anew.
        self._depths.update({_memory(one): depth for one in _tensors(out)})
        return out


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
