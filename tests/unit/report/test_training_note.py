"""The conventions of training, as a table's footnote names them."""

import pytest

from ablatable.config.load import load_experiment
from ablatable.report.training_note import checkpoint_note, training_note

BASE = (
    "Training of the base row: label smoothing 0.1 as (1 − a) y + a/K over all K classes, "
    "100,000 updates of 25,000 tokens a side, warm-up 4,000, learning-rate factor 1, fp32."
)


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        ([], "", ""),
        (
            ["train.label_smoothing=0.0"],
            "label smoothing 0.1 as (1 − a) y + a/K over all K classes",
            "no label smoothing",
        ),
        (
            ["train.smoothing_mass=others"],
            "0.1 as (1 − a) y + a/K over all K classes",
            "0.1 with mass others "
            "(Vaswani et al. 2018, the first public code: 1-a for the right class, a/(K-1) for each other)",
        ),
        (
            ["train.schedule=cosine", "train.learning_rate=1e-3"],
            "learning-rate factor 1",
            "cosine schedule from a peak of 0.001 to 0.1 of it",
        ),
        (["train.schedule=constant"], "learning-rate factor 1", "constant schedule from a peak of 0.000698771"),
        (
            ["train.schedule=constant", "train.learning_rate=7e-4"],
            "learning-rate factor 1",
            "constant schedule from a peak of 0.0007",
        ),
        (
            ["train.l1=1e-6", "train.l2=0.5"],
            "fp32",
            "penalty 1e-06 sum |w| over matrices, penalty 0.5/2 sum w^2 over matrices, fp32",
        ),
        (["train.weight_decay=0.1"], "fp32", "decoupled weight decay 0.1 of matrices, fp32"),
        (["train.clip_norm=1.0"], "fp32", "gradient of an update clipped to norm 1, fp32"),
        (["train.patience=3"], "fp32", "fewer updates where 3 validations in a row bring no better nll, fp32"),
        (
            ["train.max_target_tokens=1000000"],
            "fp32",
            "fewer updates where 1,000,000 target tokens are read before, fp32",
        ),
        (["train.max_minutes=2.5"], "fp32", "fewer updates where 2.5 minutes are over before, fp32"),
    ],
)
def test_what_departs_from_the_paper_is_named(words: list[str], old: str, new: str) -> None:
    assert training_note(load_experiment("base", words)) == BASE.replace(old, new)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "last checkpoint, not averaged"),
        (["evaluate.checkpoint=best"], "best checkpoint, not averaged"),
        (["train.average_last=5"], "average of the last 5 checkpoints"),
        (["evaluate.checkpoint=ema"], "exponential average of the weights of all updates, decay 0.999"),
    ],
)
def test_the_weights_that_were_scored_are_named(words: list[str], expected: str) -> None:
    assert checkpoint_note(load_experiment("base", words)) == expected
