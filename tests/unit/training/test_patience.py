"""Early stopping by hand."""

import pytest

from ablatable.config.training import Training
from ablatable.config.tree import leaves
from ablatable.training.patience import KINDS, Validation, cause, runs_out
from ablatable.training.progress import Progress


def stop_at(train: Training, values: list[tuple[float, float]], progress: Progress | None = None) -> int | None:
    """Index of the validation (nll, accuracy) after which training ends."""
    progress = progress or Progress()
    for index, (nll, accuracy) in enumerate(values):
        progress.update += train.validate_every
        if runs_out(train, progress, Validation(nll, accuracy)):
            return index
    return None


NLL = [5.0, 4.0, 4.1, 3.9, 3.9, 4.2, 3.95, 3.0]
ACCURACY = [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.6]
VALUES = list(zip(NLL, ACCURACY, strict=True))


@pytest.mark.parametrize(
    ("patience", "metric", "expected"),
    [(1, "nll", 2), (2, "nll", 5), (3, "nll", 6), (4, "nll", None), (1, "accuracy", 5), (2, "accuracy", None)],
)
def test_it_ends_after_so_many_in_a_row_without_a_better_one(patience: int, metric: str, expected: int | None) -> None:
    assert stop_at(Training(patience=patience, patience_metric=metric), VALUES) == expected


def test_without_patience_nothing_ends_and_nothing_is_counted() -> None:
    progress = Progress()
    assert stop_at(Training(), [(1.0, 0.5)] * 50, progress) is None
    assert (progress.merit, progress.stale) == (None, 0)


def test_the_count_goes_on_after_resuming() -> None:
    train = Training(patience=3)
    progress = Progress()
    assert stop_at(train, VALUES[:5], progress) is None
    assert progress.stale == 1
    resumed = Progress.restored(progress.state())
    assert stop_at(train, VALUES[5:], resumed) == 1


def test_the_cause_names_what_did_not_get_better_and_since_when() -> None:
    train = Training(patience=2, validate_every=10, updates=100)
    progress = Progress()
    stop_at(train, VALUES, progress)
    assert cause(train, progress) == (
        "stopped early at update 60 of 100: no better nll in 2 validations since update 40"
    )


def test_the_kinds_are_those_the_axis_names() -> None:
    axis = leaves()["train.patience_metric"].axis
    assert axis is not None
    assert set(KINDS) == set(axis.choices)
