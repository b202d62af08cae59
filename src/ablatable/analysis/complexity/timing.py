"""Time and peak memory of one call of a layer."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch.autograd.profiler import profile

from ablatable.analysis.complexity.layers import Case

Call = Callable[[], object]


def call_of(case: Case, backward: bool) -> Call:
    """What is measured: one forward pass, and one backward pass to every input and parameter where asked for."""

    def forward() -> object:
        with torch.no_grad():
            return case.forward()

    def both() -> object:
        return torch.autograd.grad(case.forward().sum(), case.leaves)

    if backward:
        for leaf in case.leaves:
            leaf.requires_grad_()
    return both if backward else forward


@contextmanager
def still(threads: int) -> Generator[None]:
    """Inside, so many threads, and freed memory is kept for the next call.

    The C library gives large pieces back to the system at once, which then fills every page with zeros for the next
    call: a cost of the allocator that doubles the time of a layer at some size and has nothing to do with the layer.
    CUDA's allocator keeps freed memory anyway.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    _allocator(mapped=0, kept=2**31 - 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _allocator(mapped=65536, kept=128 * 1024)


def _allocator(mapped: int, kept: int) -> None:
    """Set glibc's M_MMAP_MAX and M_TRIM_THRESHOLD; another C library has none and is left alone."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(-4, mapped)
        library.mallopt(-1, kept)


def sample(call: Call, device: str, seconds: float) -> tuple[float, float, int]:
    """Wall-clock and processor seconds of one call, averaged over the calls that ``seconds`` allow, and their number.

    A call before brings code and data into the caches and tells how many to make.
    """
    once, _ = _timed(call, device, 1)
    calls = max(1, round(seconds / once))
    wall, busy = _timed(call, device, calls)
    return wall / calls, busy / calls, calls


def _timed(call: Call, device: str, calls: int) -> tuple[float, float]:
    _finish(device)
    wall, busy = time.perf_counter(), time.process_time()
    for _ in range(calls):
        call()
    _finish(device)
    return time.perf_counter() - wall, time.process_time() - busy


def _finish(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def peak_memory(call: Call, device: str) -> int:
    """The most bytes of tensors at one moment of a call, beyond its inputs and parameters.

    On the processor, from every piece PyTorch's allocator gave and took back, as its profiler notes them. What a
    library takes from the system itself is not seen.
    """
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it prints a line for every profile otherwise
    with profile(use_kineto=True, profile_memory=True) as seen:
        kept = call()
    del kept
    results: Any = cast(Any, seen).kineto_results
    pieces = [(event.start_ns(), event.nbytes()) for event in results.events() if event.name() == "[memory]"]
    held = most = 0
    for _, size in sorted(pieces, key=lambda piece: piece[0]):
        held += size
        most = max(most, held)
    return most
