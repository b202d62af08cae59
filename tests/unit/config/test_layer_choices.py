"""Norms, placements, feed-forward, dropout, embeddings: what cannot be or does nothing is refused at load."""

import pytest

from ablatable.config.identity import meaning
from ablatable.config.load import load_experiment
from ablatable.errors import InputError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model.norm=none", "model.norm_placement=pre"], "norm_placement=pre places a norm and model.norm=none has"),
        (["model.norm=none", "model.norm_placement=sandwich"], "norm_placement=sandwich places a norm"),
        (["model.norm=batch", "runtime.micro_batches=2"], "runtime.micro_batches=2 splits it"),
        (["model.norm=batch", "runtime.devices=2"], "runtime.devices=2 splits it; set runtime.devices=1"),
        (["model.norm=instance"], "model.norm=instance is not possible"),
        (["model.norm_placement=first"], "model.norm_placement=first is not possible"),
        (["model.ffn=geglu"], "model.ffn=geglu is not possible"),
        (["model.norm_epsilon=0.0"], "greater than 0"),
        (["model.norm_epsilon=1.0"], "less than or equal to 0.1"),
        (["model.dropout_ffn=1.0"], "less than 1"),
        (["model.dropout_embedding=-0.1"], "greater than or equal to 0"),
        (["model.embedding_std=0.0"], "greater than 0"),
        (["model.embedding_scale=1"], "model.embedding_scale=1 is not possible"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(words: list[str], expected: str) -> None:
    with pytest.raises(InputError, match="command line") as error:
        load_experiment("base", words)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("words", "need"),
    [
        (["model.norm_placement=rezero", "model.norm=rms"], "model.norm_placement other than rezero"),
        (["model.norm_placement=rezero", "model.norm_epsilon=0.001"], "model.norm_placement other than rezero"),
        (["model.norm_placement=rezero", "model.norm_affine=false"], "model.norm_placement other than rezero"),
        (["model.norm=none", "model.norm_epsilon=0.001"], "model.norm other than none"),
        (["model.norm=none", "model.norm_affine=false"], "model.norm other than none"),
        (["model.ffn=none", "model.d_ff=64"], "model.ffn other than none"),
        (["model.ffn=none", "model.dropout_ffn=0.1"], "model.ffn other than none"),
    ],
)
def test_what_does_nothing_is_refused(words: list[str], need: str) -> None:
    with pytest.raises(InputError, match="does nothing, it needs") as error:
        load_experiment("base", words)
    assert need in str(error.value)


@pytest.mark.parametrize(
    "words",
    [
        ["model.norm=none"],
        ["model.norm_placement=rezero"],
        ["model.norm_placement=rezero", "runtime.micro_batches=2"],
        ["model.norm=batch", "train.accumulate=2"],
        ["model.norm_placement=pre", "model.norm=batch", "model.norm_affine=false"],
        ["model.ffn=none"],
        ["model.ffn=swiglu", "model.d_ff=1"],
    ],
)
def test_what_can_be_is_taken(words: list[str]) -> None:
    experiment = load_experiment("base", words)
    settings = {word.split("=")[0] for word in words if word.startswith("model.") and "d_ff" not in word}
    assert settings <= set(meaning(experiment))
