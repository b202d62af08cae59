"""The training section: what is refused, what means nothing, what the defaults stay."""

from dataclasses import fields

import pytest

from ablatable.config.decoding import Evaluation
from ablatable.config.identity import meaning
from ablatable.config.layers import from_overrides
from ablatable.config.load import experiment_layers, load_experiment, resolve
from ablatable.config.locate import known
from ablatable.config.scale import load_scale
from ablatable.config.schema import Experiment
from ablatable.config.training import Training
from ablatable.errors import InputError


def test_the_defaults_are_the_papers_or_off() -> None:
    train = Training()
    assert train.smoothing_mass == "uniform"
    assert (train.schedule, train.warmup, train.learning_rate_factor) == ("paper", 4000, 1.0)
    assert (train.beta1, train.beta2, train.adam_epsilon) == (0.9, 0.98, 1e-9)
    assert (train.l1, train.l2, train.weight_decay, train.clip_norm, train.patience) == (0.0, 0.0, 0.0, None, None)
    assert Evaluation().checkpoint == "last"
    assert meaning(Experiment()) == {}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["train.smoothing_mass=even"], "'uniform', 'others' or 'unigram'"),
        (["train.schedule=linear"], "'paper', 'constant', 'cosine' or 'inverse-sqrt'"),
        (["train.schedule=cosine", "train.updates=4000"], "train.schedule=cosine never comes to its peak"),
        (["train.schedule=constant", "train.updates=4000"], "train.warmup=4000 takes all of train.updates=4000"),
        (["train.schedule=constant", "train.learning_rate=0.0"], "train.learning_rate=0.0 is not possible"),
        (["train.schedule=cosine", "train.final_rate=1.0"], "train.final_rate=1.0 is not possible"),
        (["train.clip_norm=0.0"], "train.clip_norm=0.0 is not possible"),
        (["train.l1=-1e-6"], "train.l1=-1e-06 is not possible"),
        (["train.weight_decay=-0.1"], "train.weight_decay=-0.1 is not possible"),
        (["evaluate.checkpoint=ema", "train.ema_decay=1.0"], "train.ema_decay=1.0 is not possible"),
        (["evaluate.checkpoint=mean"], "'last', 'best' or 'ema'"),
        (["train.patience=0"], "train.patience=0 is not possible"),
        (["train.patience=5", "train.updates=6000"], "train.patience=5 cannot end this run early"),
        (["train.patience=3", "train.patience_metric=bleu"], "'nll' or 'accuracy'"),
    ],
)
def test_impossible_settings_say_why(words: list[str], expected: str) -> None:
    with pytest.raises(InputError, match="command line") as error:
        load_experiment("base", words)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["train.label_smoothing=0.0", "train.smoothing_mass=others"], "train.label_smoothing above 0"),
        (["train.learning_rate=1e-3"], "train.schedule other than paper"),
        (["train.schedule=constant", "train.learning_rate_factor=2.0"], "train.schedule=paper"),
        (["train.schedule=constant", "train.final_rate=0.2"], "train.schedule=cosine"),
        (["train.final_rate=0.2"], "train.schedule=cosine"),
        (["train.ema_decay=0.99"], "evaluate.checkpoint=ema"),
        (["evaluate.checkpoint=ema", "train.average_last=5"], "evaluate.checkpoint=last"),
        (["train.patience_metric=accuracy"], "train.patience other than null"),
    ],
)
def test_inert_settings_are_refused_with_what_they_need(words: list[str], needed: str) -> None:
    with pytest.raises(InputError, match="does nothing, it needs") as error:
        load_experiment("base", words)
    assert needed in str(error.value)


@pytest.mark.parametrize("d_model", [512, 128])
def test_a_peak_that_is_not_said_is_the_papers_for_this_width_and_warm_up(d_model: int) -> None:
    words = [f"model.d_model={d_model}", "train.warmup=1000", "train.schedule=constant"]
    implied = load_experiment("base", words)
    assert implied.train.learning_rate is None
    assert implied.train.peak_rate(d_model) == pytest.approx(d_model**-0.5 * 1000**-0.5, rel=1e-12)
    said = load_experiment("base", [*words, "train.learning_rate=1e-3"])
    assert said.train.peak_rate(d_model) == 1e-3


@pytest.mark.parametrize("schedule", ["constant", "cosine", "inverse-sqrt"])
def test_the_longest_warm_up_of_a_schedule_with_a_peak_leaves_one_update(schedule: str) -> None:
    words = [f"train.schedule={schedule}", "train.learning_rate=1e-3", "train.updates=4001"]
    assert load_experiment("base", words).train.warmup == 4000
    with pytest.raises(InputError, match="never comes to its peak"):
        load_experiment("base", [*words[:2], "train.updates=4000"])


def test_the_papers_schedule_may_end_within_its_warm_up() -> None:
    """Its rates are a matter of d_model and warm-up alone, and those of a short run are the first of a long one's."""
    assert load_experiment("base", ["train.updates=10"]).train.warmup == 4000


def test_the_longest_patience_that_can_still_end_a_run_is_taken() -> None:
    """The first validation is always better than none, and the last ends the run anyway."""
    assert load_experiment("base", ["train.patience=4", "train.updates=5001"]).train.patience == 4
    with pytest.raises(InputError, match="too few"):
        load_experiment("base", ["train.patience=4", "train.updates=5000"])


@pytest.mark.parametrize("scale", known("experiments/scales"))
@pytest.mark.parametrize("word", ["train.schedule=cosine", "train.schedule=constant", "evaluate.checkpoint=ema"])
def test_a_row_that_switches_off_what_a_scale_sets_is_possible_at_every_scale(scale: str, word: str) -> None:
    """The learning-rate factor and the checkpoints to average mean nothing under these, and scales set both."""
    scaled = resolve(experiment_layers("base"), from_overrides([word]), load_scale(scale))
    assert meaning(scaled)[word.split("=")[0]] == word.split("=")[1]
    assert not {"train.learning_rate_factor", "train.average_last"} <= set(meaning(scaled))


def test_every_field_of_the_section_is_said_once() -> None:
    names = [field.name for field in fields(Training)]  # pyright: ignore[reportArgumentType] (a pydantic dataclass)
    assert len(names) == len(set(names)) == 26
