"""The mutation check, made from the axes: a choice that behaves as the baseline makes its own generated test fail.

Each mutant builds, or trains, with one field set back to the baseline's value, whatever was asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import run_effects
import test_distinct_values as distinct
import test_model_axes as model_axes
import test_run_axes as run_axes

from ablatable.config.model import Model
from ablatable.config.schema import Experiment
from ablatable.config.tree import Leaf, leaves, value_at


def _reset(after: Experiment, path: str, before: Experiment) -> Experiment:
    """The second experiment with the first one's value of a choice, and of what means something only beside it."""
    fields = [path, *(known.path for known in leaves().values() if any(need.path == path for need in known.needs))]
    changed: dict[str, dict[str, Any]] = {}
    for field in fields:
        section, _, name = field.partition(".")
        changed.setdefault(section, {})[name] = value_at(before, field)
    return replace(after, **{name: replace(getattr(after, name), **values) for name, values in changed.items()})


@pytest.fixture
def resetting(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Patch what the generated tests observe: of two configurations both have the first one's value of a field."""

    def reset(path: str) -> None:
        name = path.partition(".")[2]
        of_models, of_runs = model_axes._observed, run_effects.observed

        def observed(before: Model, after: Model) -> Any:
            return of_models(before, replace(after, **{name: getattr(before, name)}))

        def observed_in_runs(before: Experiment, after: Experiment) -> Any:
            return of_runs(before, _reset(after, path, before))

        for module in (model_axes, distinct):
            monkeypatch.setattr(module, "_observed", observed)
        monkeypatch.setattr(run_axes, "observed", observed_in_runs)
        monkeypatch.setattr(distinct, "observed_in_runs", observed_in_runs)

    return reset


@model_axes._each(model_axes.CHANGES)
def test_a_value_of_the_model_that_is_the_baseline_is_noticed(
    name: str, leaf: Leaf, value: object, resetting: Any
) -> None:
    resetting(leaf.path)
    with pytest.raises(AssertionError, match="does nothing"):
        model_axes.test_each_value_changes_only_what_its_axis_declares(name, leaf, value)


@pytest.mark.parametrize(("path", "value"), run_axes.VALUES)
def test_a_value_outside_the_model_that_is_the_baseline_is_noticed(path: str, value: Any, resetting: Any) -> None:
    resetting(path)
    with pytest.raises(AssertionError, match="does nothing"):
        run_axes.test_each_value_changes_only_what_its_axis_declares(path, value)


@pytest.mark.parametrize("path", [path for path, leaf in leaves().items() if leaf.axis])
def test_an_axis_whose_values_are_all_one_is_noticed(path: str, resetting: Any) -> None:
    """By the test of every pair, and by that of all the effects an axis declares."""
    resetting(path)
    in_model = path.startswith("model.")
    test = getattr(distinct, f"test_values_{'of' if in_model else 'outside'}_the_model_differ_from_each_other")
    for parameters in distinct._pairs(in_model):
        if parameters.values[0] == path:
            with pytest.raises(AssertionError, match="two names for one thing"):
                test(*parameters.values)
    declared = leaves()[path].axis
    assert declared is not None
    test = (model_axes if in_model else run_axes).test_each_axis_changes_all_it_declares
    with pytest.raises(AssertionError):
        test((path.removeprefix("model."), leaves()[path], declared) if in_model else path)
