"""Where the searches of a study stand, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ablatable.config.layers import said
from ablatable.record.store import Store
from ablatable.study.tuning.outcome import Searched
from ablatable.study.tuning.trials import Trial
from ablatable.study.values import Setting

State = Literal["finished", "failed", "running", "interrupted", "missing"]
"""failed: all its trials ended and none completed."""


@dataclass(frozen=True)
class SearchState:
    """One row's search: how many of the trials it is asked for have ended, and the best of them."""

    row: str
    search: str
    state: State
    ended: int
    trials: int
    best: int | None
    """The number of the trial that leads; it has won where the search is finished."""
    value: float | None
    settings: dict[str, Setting]
    metric: str
    cause: str | None


def search_states(searches: Mapping[str, Searched], store: Store) -> tuple[SearchState, ...]:
    """Where each search stands, row by row.

    Raises:
        InputError: a record is corrupted.
    """
    return tuple(_state(row, searched, store) for row, searched in searches.items())


def _state(row: str, searched: Searched, store: Store) -> SearchState:
    leading = searched.leading
    return SearchState(
        row=row,
        search=searched.search.name,
        state=_standing(searched, store),
        ended=searched.ended,
        trials=searched.search.asked,
        best=None if leading is None else leading.number,
        value=None if leading is None else leading.value,
        settings={} if leading is None else leading.point,
        metric=searched.search.tuning.metric,
        cause=searched.lacks,
    )


def _standing(searched: Searched, store: Store) -> State:
    if searched.finished:
        return "finished" if searched.best is not None else "failed"
    if any(_runs(trial, store) for trial in searched.trials):
        return "running"
    return "interrupted" if searched.trials else "missing"


def _runs(trial: Trial, store: Store) -> bool:
    return not trial.ended and any(store.locked(id) for id in trial.runs)


def line(one: SearchState) -> str:
    """`base: finished, 8 of 8 trials; best valid.nll 3.214 (trial 3): train.learning_rate_factor=0.7042`."""
    text = f"{one.row}: {one.state}, {one.ended} of {one.trials} trials"
    if one.value is not None:
        text += f"; best {one.metric} {one.value:.5g} (trial {one.best}): {point(one.settings)}"
    return text if one.state != "failed" else f"{text}; {one.cause}"


def point(settings: Mapping[str, Setting]) -> str:
    """Settings in short: searched numbers to four digits."""
    return ", ".join(f"{path}={number(value)}" for path, value in settings.items())


def number(value: Setting) -> str:
    """A value as a person reads it."""
    return f"{value:.4g}" if isinstance(value, float) else said(value)


def counted(states: Iterable[SearchState]) -> str:
    """`2 finished, 1 missing`."""
    found = [one.state for one in states]
    return ", ".join(f"{found.count(state)} {state}" for state in dict.fromkeys(found))
