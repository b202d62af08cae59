"""What is measured: sizes, rounds, and which points the exponents are fitted to. A pure function, no torch.

The asymptotic range is settled here, whatever a measurement says, by rules about what is not the layer's leading
term:

- Calling a layer costs some 50 microseconds whatever its size. Points of fewer than ``CALL`` operations are left out.
- A recurrent step costs a microsecond or so, and element-wise work that grows with d, beside its products, which grow
  with d². Along d, points whose steps hold fewer than ``STEP`` operations are left out. Along n there is no reason to:
  that part is as linear in n as the rest.
- A product of matrices runs at the machine's rate once each side is several hundred long; below, the rate grows with
  it. The convolution's product grows wider with d: along d, points where it is narrower than ``WIDE`` are left out.
  Attention's products do not change along d, there are only more of them.
- A recurrent step reads its whole recurrent matrix to use every number once. While that fits in a core's share of the
  last cache, a step costs its arithmetic; beyond, it costs the way to main memory, and the time an operation takes
  changes with d. Along d, points whose matrix is larger than ``CACHE`` are left out.

All points are measured and drawn, those outside the range hollow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ablatable.analysis.complexity.theory import LAYERS, PATHS, data_bytes, operations, path_length

CALL = 50_000_000
"""About a millisecond on one core: the overhead of a call is a twentieth of it."""
STEP = 500_000
"""About ten microseconds, likewise."""
WIDE = 512
"""Columns of a product: two or more of the blocks that libraries cut matrices into."""
CACHE = 4 * 2**20
"""Bytes of the last cache that one core can count on."""

Point = tuple[str, int, int]
"""Layer, n, d."""
Along = Literal["n", "d"]
"""What a sweep changes."""
ALONG: tuple[Along, ...] = ("n", "d")


@dataclass(frozen=True)
class Settings:
    """Everything that decides what is measured; equal settings, equal points in equal order.

    Args:
        threads: of the processor.
        device: where the layers run.
        backward: time and memory of forward and backward, not of forward alone.
        rounds: how often every point is timed.
        sample_seconds: a sample is as many calls as this takes, one at least.
        kernel: k of the convolutions.
        window: r of restricted self-attention.
        along_n: lengths, at width ``at_d``.
        along_d: widths, at length ``at_n``.
        recurrent_d: more of them for the recurrent layer, whose range is short and whose width has no heads to hold.
        most: operations of the largest point of a sweep.
        count_n: along n, operations and steps are counted up to this length: tracing a recurrence takes a millisecond
            a step, and a count that equals its closed form at every size so far need not be repeated.
        count_at_n: along d, they are counted at this length.
        crossing: lengths at each width at which self-attention and the recurrent layer are compared.
        path_lengths: n of the maximum path lengths.
        path_sizes: k or r of the maximum path lengths, by kind.
    """

    threads: int = 1
    device: Literal["cpu", "cuda"] = "cpu"
    backward: bool = False
    rounds: int = 11
    sample_seconds: float = 0.004
    kernel: int = 3
    window: int = 65
    along_n: tuple[int, ...] = (
        32,
        64,
        128,
        256,
        384,
        512,
        640,
        768,
        896,
        1024,
        1280,
        1536,
        1792,
        2048,
        2560,
        3072,
        4096,
        5120,
        6144,
        7168,
        8192,
        10240,
        12288,
        16384,
    )
    at_d: int = 128
    along_d: tuple[int, ...] = (64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1536, 2048)
    recurrent_d: tuple[int, ...] = (224, 288, 352, 416, 480)
    at_n: int = 512
    most: int = 5_000_000_000
    count_n: int = 1024
    count_at_n: int = 64
    crossing: dict[int, tuple[int, ...]] = field(
        default_factory=lambda: {
            64: (64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048),
            128: (128, 256, 384, 512, 768, 1024, 1536, 2048, 3072),
            192: (192, 384, 768, 1024, 1536, 2048, 3072),
        }
    )
    path_lengths: tuple[int, ...] = (2, 3, 5, 8, 9, 16, 27, 33, 64, 100)
    path_sizes: dict[str, tuple[int, ...]] = field(
        default_factory=lambda: {
            "self-attention": (0,),
            "recurrent": (0,),
            "convolutional": (2, 3, 5, 9),
            "convolutional-centred": (3, 5, 9),
            "dilated": (2, 3, 5),
            "restricted": (3, 5, 9, 33),
        }
    )

    def counted(self, layer: str, along: Along) -> list[Point]:
        """The points of one sweep whose operations are counted, in order."""
        if along == "n":
            return [(layer, n, self.at_d) for n in self.along_n if n <= self.count_n]
        return [(layer, self.count_at_n, d) for d in self.along_d]

    def counted_points(self) -> list[Point]:
        """All of them."""
        return sorted({point for layer in LAYERS for along in ALONG for point in self.counted(layer, along)})

    def memory_points(self) -> list[Point]:
        """The points whose memory is measured."""
        return [point for layer in LAYERS for point in self.sweep(layer, "n")]

    def points(self) -> list[Point]:
        """Every point that is timed once, ordered."""
        found = {point for layer in LAYERS for along in ALONG for point in self.sweep(layer, along)}
        found |= {(layer, n, d) for d, lengths in self.crossing.items() for n in lengths for layer in COMPARED}
        return sorted(found)

    def sweep(self, layer: str, along: Along) -> list[Point]:
        """The points of one sweep, in order."""
        widths = sorted({*self.along_d, *(self.recurrent_d if layer == "recurrent" else ())})
        sizes = [(n, self.at_d) for n in self.along_n] if along == "n" else [(self.at_n, d) for d in widths]
        return [(layer, n, d) for n, d in sizes if self.operations((layer, n, d)) <= self.most]

    def order(self, number: int) -> list[Point]:
        """The points in the order of a round, another one each time, so that drift of the machine meets all alike."""
        points = self.points()
        random.Random(number).shuffle(points)
        return points

    def operations(self, point: Point) -> int:
        """Operations of one forward pass, in closed form."""
        layer, n, d = point
        return operations(layer, n, d, self.kernel, self.window)

    def asymptotic(self, point: Point, along: Along) -> bool:
        """Whether the time at this point is its leading term's, by the rules at the top of this file."""
        layer, n, d = point
        if self.operations(point) < CALL:
            return False
        if along == "n":
            return data_bytes(layer, n, d) >= CACHE
        if LAYERS[layer].paper == "convolutional":
            return 2 * d >= WIDE
        if LAYERS[layer].products is not None:
            return True
        return self.operations(point) / n >= STEP and 16 * d * d <= CACHE

    def paths(self) -> Iterator[tuple[str, int, int]]:
        """Every (kind, n, size) whose maximum path length is measured."""
        for kind in PATHS:
            for size in self.path_sizes[kind]:
                for n in self.path_lengths:
                    if path_length(kind, n, size) <= MOST_LAYERS:
                        yield kind, n, size


MOST_LAYERS = 100
"""Deeper stacks are not built: the gradient through j layers is taken for every j."""

COMPARED = ("self-attention", "self-attention-projected", "recurrent")
"""The layers whose costs cross."""


def quick(settings: Settings) -> Settings:
    """Small sizes and few rounds: what the command does, in seconds; the exponents mean little."""
    return Settings(
        threads=settings.threads,
        device=settings.device,
        backward=settings.backward,
        rounds=3,
        sample_seconds=0.001,
        along_n=(64, 768, 896, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120),
        along_d=(64, 128, 192, 256, 320, 384),
        recurrent_d=(),
        at_n=384,
        most=1_500_000_000,
        crossing={64: (64, 256, 1024)},
        path_lengths=(2, 9, 16, 17),
    )
