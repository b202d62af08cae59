"""Which sentence is in which length bucket, by hand, and the buckets' names and bounds."""

from __future__ import annotations

import numpy as np
import pytest

from ablatable.config.identity import meaning
from ablatable.config.load import load_experiment
from ablatable.errors import InputError
from ablatable.scoring.buckets import chosen, members


def test_a_sentence_is_as_long_as_its_longer_side_and_bounds_belong_to_the_shorter_bucket() -> None:
    evaluation = load_experiment("base", ["evaluate.length_buckets=[2, 4]"]).evaluate
    found = members(evaluation, source_lengths=[1, 2, 3, 4, 9, 1, 2], target_lengths=[2, 2, 1, 4, 1, 5, 3])
    assert {name: places.tolist() for name, places in found.items()} == {
        "1-2": [0, 1],  # 2 and 2: the bound itself is short
        "3-4": [2, 3, 6],  # 3, 4 and, for its target, 3
        "longer": [4, 5],  # 9, and 5 for its target
    }


def test_every_sentence_is_in_one_bucket_and_an_empty_one_is_there() -> None:
    evaluation = load_experiment("base", ["evaluate.length_buckets=[1, 3, 50]"]).evaluate
    found = members(evaluation, [2, 3, 60, 0], [2, 3, 60, 0])
    assert {name: len(places) for name, places in found.items()} == {"1-1": 1, "2-3": 2, "4-50": 0, "longer": 1}
    assert sorted(np.concatenate(list(found.values())).tolist()) == [0, 1, 2, 3]


def test_no_bounds_no_buckets_and_the_same_identity_as_ever() -> None:
    evaluation = load_experiment("base").evaluate
    assert (evaluation.length_buckets, evaluation.buckets) == ((), ())
    assert members(evaluation, [1, 2], [1, 2]) == {}
    assert meaning(load_experiment("base", ["evaluate.length_buckets=[]"])) == {}
    assert meaning(load_experiment("base", ["evaluate.length_buckets=[20]"])) == {"evaluate.length_buckets": [20]}


def test_lines_of_a_bucket_where_only_the_first_were_translated() -> None:
    assert chosen(["a", "b", "c"], np.array([0, 2, 5])) == ["a", "c"]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ("[40, 20]", "rise from short to long"),
        ("[20, 20]", "rise from short to long"),
        ("[0, 20]", "evaluate.length_buckets"),
        ("[a]", "evaluate.length_buckets"),
        ("20", "evaluate.length_buckets"),
    ],
)
def test_bounds_that_make_no_buckets_are_refused(bounds: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_experiment("base", [f"evaluate.length_buckets={bounds}"])
