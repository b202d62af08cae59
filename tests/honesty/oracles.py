"""Which test knows each named choice from its formula or law, and how to call such tests without pytest.

``DICTS`` are the tables through which the product finds the class of a name, ``ORACLES`` the tests that hold the class
to what the name says. A place is ``file::function`` below ``tests/``; where a function knows several names, it is
called with those of its parameters that mention the one in question.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ablatable.data.tokenizers import build as tokenizers
from ablatable.nn import bag, build, cells, ffn, norms, positions, relative, residual, scores
from ablatable.nn.build.embeddings import TYING
from ablatable.nn.build.recurrent import ATTENTION
from ablatable.nn.relative import rotary
from ablatable.training import loss, patience, schedule, scored

TESTS = Path(__file__).parents[1]

DICTS: dict[str, tuple[dict[str, Any], ...]] = {
    "model.architecture": (build.KINDS,),
    "model.score": (scores.KINDS,),
    "model.score_scale": (scores.SCALES,),
    "model.position": (positions.KINDS, relative.KINDS),
    "model.tying": (TYING,),
    "model.norm_placement": (residual.KINDS,),
    "model.norm": (norms.KINDS,),
    "model.ffn": (ffn.KINDS,),
    "model.rnn_cell": (cells.KINDS,),
    "model.rnn_attention": (ATTENTION,),
    "model.bag": (bag.WINDOWS,),
    "tokenizer.kind": (tokenizers.KINDS,),
    "train.smoothing_mass": (loss.KINDS,),
    "train.schedule": (schedule.KINDS,),
    "train.patience_metric": (patience.KINDS,),
    "evaluate.checkpoint": (scored.KINDS,),
}
"""By axis, for every choice that is one of a few names."""

LAYOUTS: dict[str, tuple[dict[str, Any], ...]] = {"model.position_layout": (positions.LAYOUTS, rotary.LAYOUTS)}
"""Names of an axis that each of several parts has a table of its own for."""

_POSITIONS = "oracle/test_position_formulas.py::test_each_kind_is_added_or_concatenated_as_its_formula_says"
_RELATIVE = "oracle/test_relative_positions.py::test_attention_equals_the_formula"
_SCORES = "oracle/test_score_formulas.py::test_attention_equals_the_loop"
_RECURRENT = "oracle/test_rival_formulas.py::test_the_recurrent_network_is_a_loop_over_time"

ORACLES: dict[str, str | tuple[str, ...] | dict[str, str]] = {
    "model.architecture": {
        "transformer": "oracle/test_torch_transformer.py::test_logits_and_gradients_equal_torch_transformer",
        "rnn": _RECURRENT,
        "convolutional": "oracle/test_rival_formulas.py::test_the_convolutional_network_is_a_loop_over_positions",
        "bag": "oracle/test_rival_formulas.py::test_the_bag_is_its_formula",
    },
    "model.score": _SCORES,
    "model.score_scale": _SCORES,
    "model.position": {
        **dict.fromkeys(("sinusoidal", "learned", "index"), _POSITIONS),
        **dict.fromkeys(relative.KINDS, _RELATIVE),
        "none": "honesty/test_position_laws.py::test_without_positions_the_encoder_follows_a_permutation",
    },
    "model.position_layout": (_POSITIONS, _RELATIVE),
    "model.tying": "unit/nn/test_build.py::TestTying::test_arch_04_which_matrices_are_one",
    "model.norm_placement": "oracle/test_sublayer_formulas.py::test_each_placement_equals_its_formula",
    "model.norm": "oracle/test_norm_formulas.py::test_each_norm_equals_its_formula",
    "model.ffn": (
        "oracle/test_sublayer_formulas.py::test_each_feed_forward_equals_its_formula",
        "oracle/test_sublayer_formulas.py::test_without_feed_forward_a_layer_is_its_attention",
    ),
    "model.rnn_cell": _RECURRENT,
    "model.rnn_attention": _RECURRENT,
    "model.bag": "oracle/test_rival_formulas.py::test_the_bag_is_its_formula",
    "tokenizer.kind": "oracle/test_segmentations.py::test_a_line_is_cut_as_its_definition_says",
    "train.smoothing_mass": "unit/training/test_smoothing.py::test_value_and_gradients_are_those_of_the_plain_formula",
    "train.schedule": {
        "paper": "unit/training/test_schedule.py::test_opt_01_opt_02_trn_03_values",
        **dict.fromkeys(
            ("inverse-sqrt", "cosine", "constant"), "unit/training/test_schedule.py::test_values_of_the_others"
        ),
    },
    "train.patience_metric": "unit/training/test_patience.py::test_it_ends_after_so_many_in_a_row_without_a_better_one",
    "evaluate.checkpoint": "unit/training/test_scored.py::test_each_choice_is_the_weights_it_names",
}
"""By axis, or by axis and name. What is asked of one name alone, or without parameters, is asked as it stands."""

Call = Callable[[], None]


def calls(path: str, value: str) -> Iterator[Call]:
    """The ways to call the tests that know this value."""
    told = ORACLES[path]
    places = told.get(value, ()) if isinstance(told, dict) else told
    for place in (places,) if isinstance(places, str) else places:
        function = _function(place)
        given = list(_parameters(function))
        alone = isinstance(told, dict) and list(told.values()).count(place) == 1
        for parameters in given:
            if alone or not parameters or any(_mentions(each, path, value) for each in parameters.values()):
                yield partial(_call, function, parameters)


def _mentions(parameter: Any, path: str, value: str) -> bool:
    name = path.rpartition(".")[2]
    if isinstance(parameter, Mapping):
        return parameter.get(name) == value
    return getattr(parameter, name, parameter) == value


@cache
def _function(place: str) -> Callable[..., None]:
    file, _, name = place.partition("::")
    found: Any = _module(TESTS / file)
    for part in name.split("::"):
        found = getattr(found() if inspect.isclass(found) else found, part)
    return found


@cache
def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"known_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def _parameters(function: Callable[..., None]) -> Iterator[dict[str, Any]]:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    for chosen in itertools.product(*(mark.args[1] for mark in marks)):
        given: dict[str, Any] = {}
        for mark, values in zip(marks, chosen, strict=True):
            names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
            values = values.values if hasattr(values, "marks") else values if len(names) > 1 else (values,)
            given |= zip(names, values, strict=True)
        yield given


def _call(function: Callable[..., None], given: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        fixtures = {"monkeypatch": patch, "tmp_path": Path(folder)}
        asked = inspect.signature(function).parameters
        function(**given, **{name: fixture for name, fixture in fixtures.items() if name in asked})
