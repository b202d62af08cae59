"""What is measured by default, and which points the exponents are fitted to."""

import itertools

import pytest

from ablatable.analysis.complexity.settings import ALONG, COMPARED, Along, Settings, quick
from ablatable.analysis.complexity.theory import LAYERS, PATHS, block

DEFAULT = Settings()


def inside(layer: str, along: Along) -> list[int]:
    place = 1 if along == "n" else 2
    return [point[place] for point in DEFAULT.sweep(layer, along) if DEFAULT.asymptotic(point, along)]


@pytest.mark.parametrize("along", ALONG)
@pytest.mark.parametrize("layer", LAYERS)
def test_every_range_is_fitted_over_a_factor_with_points_to_spare(layer: str, along: Along) -> None:
    found = inside(layer, along)
    assert len(found) >= 8
    assert found[-1] / found[0] >= 2.5


def test_the_ranges_are_those_the_docs_state() -> None:
    assert (inside("self-attention", "n")[0], inside("self-attention", "n")[-1]) == (768, 3072)
    for layer in ("recurrent", "convolutional", "dilated", "restricted"):
        assert (inside(layer, "n")[0], inside(layer, "n")[-1]) == (2048, 16384)
    assert (inside("recurrent", "d")[0], inside("recurrent", "d")[-1]) == (192, 512)
    assert 640 in [d for _, _, d in DEFAULT.sweep("recurrent", "d")]  # beyond the cache: measured and drawn
    assert (inside("convolutional", "d")[0], inside("convolutional", "d")[-1]) == (256, 896)


def test_points_divide_evenly_so_that_counts_are_exact() -> None:
    for layer, n, d in (*DEFAULT.points(), *DEFAULT.counted_points()):
        assert n % block(DEFAULT.window) == 0
        assert d % 64 == 0 or layer == "recurrent"


def test_a_round_has_every_point_once_in_an_order_of_its_own() -> None:
    first, second = DEFAULT.order(0), DEFAULT.order(1)
    assert first != second
    assert sorted(first) == sorted(second) == DEFAULT.points()
    assert first == Settings().order(0)
    same = sum(one[0] == other[0] for one, other in itertools.pairwise(first))
    assert same < len(first) / 2  # layers are mixed, so a slow minute meets all of them


def test_what_is_compared_is_measured_at_the_same_points() -> None:
    points = set(DEFAULT.points())
    assert {(layer, n, d) for d, ns in DEFAULT.crossing.items() for n in ns for layer in COMPARED} <= points


def test_paths_are_measured_over_many_sizes() -> None:
    found = list(DEFAULT.paths())
    assert {kind for kind, _, _ in found} == set(PATHS)
    assert len(found) > 150
    assert ("recurrent", 100, 0) in found


def test_quick_is_a_small_share_of_the_default() -> None:
    small = quick(DEFAULT)
    cost = {s.rounds: s.rounds * sum(map(s.operations, s.points())) for s in (small, DEFAULT)}
    assert cost[small.rounds] < 0.05 * cost[DEFAULT.rounds]
