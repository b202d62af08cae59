"""Pairs of choices that would do nothing, or be two names for one thing: refused at load, with the reason."""

import pytest

from ablatable.config.load import load_experiment
from ablatable.errors import InputError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model.norm=scale", "model.norm_epsilon=0.001"], "it needs model.norm other than none|scale"),
        (["model.cross_attention=false", "data.word_dropout=0.1"], "leaves it unread; leave out data.word_dropout"),
        (["model.cross_attention=false", "data.word_swap=3"], "leaves it unread; leave out data.word_swap"),
        (["model.cross_attention=false", "model.tying=decoder"], "is model.tying=three-way where"),
        (["model.position=none", "data.word_swap=3"], "whose order this model cannot see"),
        (["model.architecture=bag", "data.word_swap=3"], "whose order this model cannot see"),
        (["model.window=513"], "model.window=513 sees all of the longest training sentence"),
        (["data.max_length=10", "model.window=21"], "model.window=21 sees all"),
        (["model.architecture=bag", "model.bag_window=1", "model.bag=average"], "it needs model.bag_window above 1"),
        (["model.heads=1", "model.score_scale=1/sqrt(d_model)"], "is 1/sqrt(d_k) where d_k is 512"),
        (["model.d_k=1", "model.score_scale=none"], "is 1/sqrt(d_k) where d_k is 1"),
        (["model.d_k=1", "model.score_scale=1/d_k"], "is 1/sqrt(d_k) where d_k is 1"),
        (["train.schedule=inverse-sqrt"], "train.schedule=inverse-sqrt is train.schedule=paper where"),
        (
            [
                "train.schedule=inverse-sqrt",
                "model.d_model=256",
                "train.warmup=1024",
                "train.learning_rate=0.001953125",
            ],
            "set another train.learning_rate",
        ),
        (["evaluate.checkpoint=best", "train.updates=1000"], "there is only one validation, at the end of"),
        (["decode.length_penalty=0", "decode.length_counts_eos=false"], "it needs decode.length_penalty other than 0"),
        (["train.max_target_tokens=2500000000"], "cannot end this run: train.updates=100000 of train.batch_tokens"),
        (["train.updates=2", "train.accumulate=3", "train.max_target_tokens=150000"], "cannot end this run"),
    ],
)
def test_a_pair_without_an_effect_is_refused(words: list[str], expected: str) -> None:
    with pytest.raises(InputError) as error:
        load_experiment("base", words)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    "words",
    [
        ["data.max_length=10", "model.window=19"],
        ["model.position=none", "model.window=9", "data.word_swap=3"],
        ["model.cross_attention=false", "tokenizer.sharing=separate", "model.tying=decoder"],
        ["model.architecture=bag", "model.bag_window=2", "model.bag=average"],
        ["model.heads=1", "model.score=additive"],
        ["train.schedule=inverse-sqrt", "train.learning_rate=7e-4"],
        ["evaluate.checkpoint=best", "train.updates=1001"],
        ["decode.length_penalty=0"],
        ["decode.length_penalty=0.1", "decode.length_counts_eos=false"],
        ["train.max_target_tokens=2499999999"],
        ["train.updates=2", "train.accumulate=3", "train.max_target_tokens=149999"],
    ],
)
def test_its_neighbours_are_accepted(words: list[str]) -> None:
    load_experiment("base", words)
