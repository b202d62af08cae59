"""A study made from the design space: one row for every value of every choice, each alone against the base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from ablatable.config.identity import meaning
from ablatable.config.layers import Setting, build, said
from ablatable.config.tree import leaves, selecting, values_of


def one_by_one(paths: Iterable[str], name: str = "one-by-one") -> str:
    """The YAML of a study in which each value of the choices at ``paths`` that is not the default is a row.

    A row also sets what its value needs to mean anything or to be possible. A value that says in full what the base
    means anyway (d_k=64) has no row. Baseline, scales and rows are meant to be edited.
    """
    study: dict[str, Any] = {
        "name": name,
        "title": "Every choice alone against the base",
        "baseline": "base",
        "columns": [
            {"label": "PPL", "metric": "ppl", "digits": 2, "better": "lower"},
            {"label": "BLEU", "metric": "bleu", "digits": 1, "better": "higher"},
        ],
        "rows": [{"name": "base"}, *_rows(paths)],
    }
    return yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=120)


def _rows(paths: Iterable[str]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for value in values_of(path):
            settings = selecting(path, value)
            if value != leaves()[path].default and _changes_something(settings):
                yield {"name": f"{path.rsplit('.', 1)[-1]}={_slug(value)}", "set": settings}


def _changes_something(settings: dict[str, Any]) -> bool:
    return bool(meaning(build([{path: Setting(value, "axes") for path, value in settings.items()}])))


def _slug(value: Any) -> str:
    """The value as a row's name may hold it."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", said(value)).strip("_")
