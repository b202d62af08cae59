"""Every value of every axis outside ``config.model``, read off the declarations: it changes what its axis declares.

What is a setting and no choice says why; what says where a run happens changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from run_effects import effects, observed, seen
from tiny_space import TINY, baseline, contexts, experiment, pair, tried

from ablatable.config.axis import Effect
from ablatable.config.identity import run_id, training_id, weights_id
from ablatable.config.tree import leaves, value_at

AXES = {path: leaf.axis for path, leaf in leaves().items() if leaf.axis and not path.startswith("model.")}

SETTINGS: dict[str, tuple[Any, frozenset[Effect], str]] = {
    "seed": (2, frozenset({Effect.INIT, Effect.DATA, Effect.TRAIN_ONLY}), "a row is read over several seeds"),
    "data.corpus": ("synthetic-copy", frozenset({Effect.DATA}), "rows of a table share their text"),
    "train.max_target_tokens": (200, frozenset({Effect.GRADIENT}), "another measure of train.updates"),
}
"""Fields that are part of a run's identity and no axis: another value, what it changes, why it is no choice."""

UNSEEN = {
    "data.files_languages": "names the languages of the user's text; scoring asks for them",
    "train.max_minutes": "ends a run by the clock, which no test can repeat",
    "evaluate.splits": "says what is scored, not how",
    "evaluate.sentences": "says how much is scored",
    "evaluate.length_buckets": "says what is scored by itself too (integration/test_length_buckets_run.py)",
}
"""The same, where a tiny run has nothing to show."""

ELSEWHERE: dict[str, Any] = {
    "runtime.save_seconds": 0.001,
    "runtime.keep_checkpoints": True,
    "runtime.accelerator": "auto",
    "tracking.project": "another",
}
"""Operational fields: other values must change nothing, to the last bit."""


def _changes(path: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    for value in tried(path):
        for context in contexts(path):
            if value != baseline(path, context):
                yield value, context


def _observed_anywhere(path: str, value: Any) -> frozenset[Effect]:
    settings = [context for other, context in _changes(path) if other == value]
    return frozenset().union(*(observed(*pair(path, value, context)) for context in settings))


VALUES = [
    pytest.param(path, value, id=f"{path}={value}")
    for path in AXES
    for value in dict.fromkeys(v for v, _ in _changes(path))
]


@pytest.mark.parametrize(("path", "value"), VALUES)
def test_each_value_changes_only_what_its_axis_declares(path: str, value: Any) -> None:
    changed = _observed_anywhere(path, value)
    assert changed, f"{path}={value} does nothing"
    assert changed <= AXES[path].changes


@pytest.mark.parametrize("path", AXES)
def test_each_axis_changes_all_it_declares(path: str) -> None:
    assert list(_changes(path)), "no value to try beside the default"
    assert frozenset().union(*(_observed_anywhere(path, value) for value in tried(path))) == AXES[path].changes


@pytest.mark.parametrize(("path", "value"), VALUES)
def test_runs_that_share_a_training_or_its_weights_have_the_same(path: str, value: Any) -> None:
    """Rows are trained once where their identities say so: what these leave out must not matter."""
    for other, context in _changes(path):
        if other != value:
            continue
        before, after = pair(path, value, context)
        assert run_id(before, "text") != run_id(after, "text")
        if training_id(before, "text") == training_id(after, "text"):
            assert observed(before, after) <= {Effect.DECODE}
        if weights_id(before, "text") == weights_id(after, "text"):
            first, second = seen(before).scored, seen(after).scored
            assert all(first[name].equal(second[name]) for name in first | second)


def test_an_experiment_shows_no_effect_against_itself() -> None:
    """Otherwise the effects above would prove nothing: here it is trained anew."""
    seen.cache_clear()
    first = seen(experiment())
    seen.cache_clear()
    assert not effects(first, seen(experiment({"runtime.save_seconds": 61.0})))


@pytest.mark.parametrize("path", SETTINGS)
def test_each_setting_changes_what_is_said_of_it(path: str) -> None:
    value, changed, _ = SETTINGS[path]
    after = {path: value}
    if path == "data.corpus":
        after |= {"data.train_pairs": 100, "tokenizer.size": 40}
    before = {key: setting for key, setting in after.items() if key != path}
    assert observed(experiment(before), experiment(after)) == changed


@pytest.mark.parametrize("path", ELSEWHERE)
def test_where_a_run_happens_changes_nothing(path: str) -> None:
    elsewhere = experiment({path: ELSEWHERE[path]})
    assert value_at(elsewhere, path) != TINY.get(path, leaves()[path].default)
    assert run_id(elsewhere, "text") == run_id(experiment(), "text")
    assert not observed(experiment(), elsewhere)


def test_every_field_that_is_no_axis_is_a_setting_with_a_reason_or_operational() -> None:
    fields = {path: leaf for path, leaf in leaves().items() if leaf.axis is None}
    assert {path for path, leaf in fields.items() if leaf.semantic} == {*SETTINGS, *UNSEEN}
    assert all(len(reason) > 20 for reason in [*UNSEEN.values(), *(reason for _, _, reason in SETTINGS.values())])
    assert not any(leaf.needs and leaf.semantic for path, leaf in fields.items() if path not in UNSEEN)
