"""Scales: what shrinks, what is replaced, and what cannot be."""

import re
from pathlib import Path

import pytest

from ablatable.config.layers import from_overrides
from ablatable.config.load import experiment_layers, load_experiment, resolve
from ablatable.config.locate import known
from ablatable.config.scale import factors, load_scale
from ablatable.errors import InputError


def scale_file(folder: Path, text: str) -> str:
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    return str(folder / "s.yaml")


@pytest.mark.parametrize("name", known("experiments/scales"))
@pytest.mark.parametrize("experiment", ["base", "big", "t2t-2017-base"])
def test_every_scale_maps_every_experiment(name: str, experiment: str) -> None:
    scaled = load_experiment(experiment, scale=name)
    assert scaled.model.d_model % scaled.model.heads == 0


@pytest.mark.parametrize("name", known("experiments"))
def test_every_experiment_loads(name: str) -> None:
    load_experiment(name)


def test_paper_scale_changes_nothing() -> None:
    assert load_experiment("big", scale="paper") == load_experiment("big")


def test_widths_shrink_together_and_heads_stay(tmp_path: Path) -> None:
    path = scale_file(tmp_path, "shrink: {width: 1/4, depth: 1/2}\nset: {train.warmup: 7}\n")
    row = from_overrides(["model.heads=16", "model.d_k=32", "model.d_v=32"])
    scaled = resolve(experiment_layers("base"), row, load_scale(path))
    assert (scaled.model.d_model, scaled.model.d_ff, scaled.model.layers) == (128, 512, 3)
    assert (scaled.model.heads, scaled.model.key_size, scaled.model.value_size) == (16, 8, 8)
    assert scaled.train.warmup == 7


def test_a_derived_width_stays_derived(tmp_path: Path) -> None:
    path = scale_file(tmp_path, "shrink: {width: 1/4}\n")
    scaled = resolve(experiment_layers("base"), from_overrides(["model.heads=1"]), load_scale(path))
    assert scaled.model.d_k is None
    assert scaled.model.key_size == 128


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shrink: {depth: 1/4}\n", "times 1/4 .* is 1.5, not a whole number"),
        ("shrink: {wdith: 1/4}\n", "unknown shrink factor 'wdith'; did you mean 'width'"),
        ("shrink: {width: 0}\n", "not a positive fraction"),
        ("shrink: {width: wide}\n", "not a positive fraction"),
        ("sett: {}\n", "unknown key 'sett' in a scale; did you mean 'set'"),
        ("set: {model.headz: 4}\n", "did you mean 'model.heads'"),
    ],
)
def test_bad_scales(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        load_experiment("base", scale=scale_file(tmp_path, text))


def test_a_scale_must_not_undo_the_row(tmp_path: Path) -> None:
    path = scale_file(tmp_path, "set: {train.updates: 10}\n")
    row = from_overrides(["train.updates=300000"])
    with pytest.raises(InputError, match="what this row changes, and the scale s replaces it"):
        resolve(experiment_layers("base"), row, load_scale(path))


def test_factors_name_the_fields_they_multiply() -> None:
    widths = {"model.d_ff", "model.d_k", "model.d_model", "model.d_v", "model.rival_width"}
    assert set(factors()["width"]) == widths
    assert factors()["depth"] == ["model.layers"]


def test_unknown_scale_names_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown scale 'cpux'; did you mean 'cpu'"):
        load_experiment("base", scale="cpux")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shrink: [width]\n", "s.yaml:1: shrink takes `factor: fraction` lines"),
        ("shrink: {7: 1/2}\n", "unknown shrink factor '7'"),
        ("7: 8\n", "unknown key '7' in a scale"),
    ],
)
def test_other_shapes_than_a_scale_s_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError, match=re.escape(expected)):
        load_scale(scale_file(tmp_path, text))


def test_a_scale_leaves_out_what_the_row_took_the_meaning_from(tmp_path: Path) -> None:
    path = scale_file(tmp_path, "set: {tokenizer.size: 2000, train.updates: 10}\n")
    row = from_overrides(["tokenizer.kind=byte"])
    scaled = resolve(experiment_layers("base"), row, load_scale(path))
    assert (scaled.tokenizer.kind, scaled.tokenizer.most_pieces, scaled.train.updates) == ("byte", 260, 10)
    words = resolve(experiment_layers("base"), from_overrides(["tokenizer.kind=word"]), load_scale(path))
    assert words.tokenizer.size == 2000


def test_a_setting_of_a_scale_that_no_row_switched_off_is_refused(tmp_path: Path) -> None:
    path = scale_file(tmp_path, "set: {model.position_max: 64}\n")
    with pytest.raises(InputError, match=r"model\.position_max does nothing"):
        resolve(experiment_layers("base"), from_overrides(["model.heads=4"]), load_scale(path))
