"""Attention's settings that cannot be, or would do nothing, are refused as they are read."""

import pytest

from ablatable.config.load import load_experiment
from ablatable.errors import InputError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["model.window=4"], r"model\.window=4 is even .* choose 3 or 5"),
        (["model.window=1"], r"model\.window"),
        (["model.score=additive", "model.score_scale=none"], r"model\.score_scale.*model\.score"),
        (["model.score=cosine", "model.score_scale=learned"], r"model\.score_scale.*model\.score"),
        (["model.score=general"], r"model\.score"),
        (["model.score_scale=1/sqrt(d)"], r"model\.score_scale"),
        (["model.position=shaw", "model.score=additive"], r"model\.position=shaw .* choose model\.score=dot"),
        (["model.position=shaw", "model.score=cosine"], r"model\.position=shaw .* choose model\.score=dot"),
        (["model.position=rope", "model.score=additive"], r"model\.position=rope .* choose model\.score=dot or cosine"),
        (["model.dropout_attention=1.0"], r"model\.dropout_attention"),
        (
            ["model.cross_attention=false", "model.target_language_table=true"],
            r"model\.target_language_table=true .* leaves no encoder",
        ),
        (["model.cross_attention=false", "model.tying=source-target"], r"model\.tying=source-target .* leaves none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_experiment("base", settings)


@pytest.mark.parametrize(
    "settings",
    [
        ["model.window=3", "model.score=additive"],
        ["model.position=rope", "model.score=cosine"],
        ["model.position=t5", "model.score=additive", "model.dropout_attention=0.1"],
        ["model.causal=false", "model.window=5", "model.score_scale=1/d_k"],
        ["model.cross_attention=false", "model.tying=none"],
    ],
    ids=" ".join,
)
def test_accepted(settings: list[str]) -> None:
    model = load_experiment("base", settings).model
    for setting in settings:
        path, _, value = setting.partition("=")
        assert str(getattr(model, path.removeprefix("model."))).lower() == value
