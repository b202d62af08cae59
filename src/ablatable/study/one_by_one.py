"""A study made from the design space: one row for every value of every choice, each alone against the base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from ablatable.config.layers import said
from ablatable.config.tree import leaves, selecting, values_of


def one_by_one(paths: Iterable[str], name: str = "one-by-one") -> str:
    """The YAML of a study in which each value of the choices at ``paths`` that is not the default is a row.

    A row also sets what its value needs to mean anything or to be possible. Baseline, scales and rows are meant to be
    edited.
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
            if value != leaves()[path].default:
                yield {"name": f"{path.rsplit('.', 1)[-1]}={_slug(value)}", "set": selecting(path, value)}


def _slug(value: Any) -> str:
    """The value as a row's name may hold it."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", said(value)).strip("_")
