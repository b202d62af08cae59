"""Chunked cross-entropy against the plain one, forward and backward, in turns in one process.

Run: ``python benchmarks/cross_entropy.py``. Prints the ratio of the middle times and of the largest tensors.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from ablatable.training.loss import _CHUNK_ELEMENTS, Smoothing, token_losses


def seconds(step: Callable[[], Tensor]) -> float:
    """Time one forward and backward pass."""
    start = time.perf_counter()
    step().backward()
    return time.perf_counter() - start


def main() -> None:
    """Compare at the sizes of the demo and of the paper's vocabulary."""
    torch.set_num_threads(1)
    for tokens, width, vocabulary in ((1024, 128, 2000), (2048, 128, 4000), (1024, 512, 37000)):
        hidden = torch.randn(tokens, width, requires_grad=True)
        weight = torch.randn(vocabulary, width, requires_grad=True)
        targets = torch.randint(0, vocabulary, (tokens,))

        def plain(h: Tensor = hidden, w: Tensor = weight, t: Tensor = targets) -> Tensor:
            return F.cross_entropy(h @ w.t(), t, label_smoothing=0.1, reduction="sum")

        def chunked(h: Tensor = hidden, w: Tensor = weight, t: Tensor = targets) -> Tensor:
            return token_losses(h, w, t, Smoothing(0.1)).smoothed

        for step in (plain, chunked):
            seconds(step)
        turns = [(seconds(plain), seconds(chunked)) for _ in range(9)]
        ratio = statistics.median(a / b for a, b in turns)
        rows = max(16, _CHUNK_ELEMENTS["cpu"] // vocabulary)
        print(
            f"{tokens} tokens, d_model {width}, V {vocabulary}: plain / chunked time {ratio:.2f}, "
            f"logits held {tokens * vocabulary / 1e6:.1f}M / {min(tokens, rows) * vocabulary / 1e6:.1f}M"
        )


if __name__ == "__main__":
    main()
