"""What makes two runs the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from ablatable.config.dump import is_active
from ablatable.config.model import Model
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaves, value_at
from ablatable.config.weights import evaluated_weights

IDENTITY_VERSION = 1
"""Raised only when the meaning of existing settings changes; a new setting at its default leaves identities alone."""

_RESOLVED: dict[str, Callable[[Experiment], float]] = {
    "model.d_k": lambda experiment: experiment.model.key_size,
    "model.d_v": lambda experiment: experiment.model.value_size,
    "model.rival_width": lambda experiment: experiment.model.rival_size,
    "train.learning_rate": lambda experiment: experiment.train.peak_rate(experiment.model.d_model),
}
"""What null stands for, said in full in the identity whether a file said it or not."""

_MEANT_BY_NULL: dict[str, Callable[[Model], float]] = {
    "model.dropout_embedding": lambda model: model.dropout,
    "model.embedding_std": lambda model: model.d_model**-0.5,
}
"""What null stands for, left out of the identity: said in full it is the same run."""


def meaning(experiment: Experiment) -> dict[str, Any]:
    """The active semantic settings that differ from the paper's base, with derived widths and rates spelled out.

    ``d_k=None`` and ``d_k=d_model/heads`` are one meaning, so both give the number.
    """
    return dict(_meaning(replace(experiment, seed=0)))


@lru_cache(maxsize=4096)
def _meaning(experiment: Experiment) -> dict[str, Any]:
    """One answer for all seeds of a row: a table asks a thousand times."""
    base = Experiment()
    return {
        path: _plain(experiment, path)
        for path, known in leaves().items()
        if known.semantic
        and path != "seed"
        and is_active(experiment, path)
        and (not is_active(base, path) or _plain(experiment, path) != _plain(base, path))
        and _plain(experiment, path) != _inactive_default(base, path)
    }


def _inactive_default(base: Experiment, path: str) -> Any:
    # A setting that the base has switched off still has its default, which adds nothing to what its switch says.
    return _Never if is_active(base, path) else leaves()[path].default


class _Never:
    """Equal to no setting."""


def _plain(experiment: Experiment, path: str) -> Any:
    if path in _RESOLVED:
        return _RESOLVED[path](experiment)
    value = value_at(experiment, path)
    if path in _MEANT_BY_NULL and value == _MEANT_BY_NULL[path](experiment.model):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(cast(tuple[Any, ...], value)) if isinstance(value, tuple) else value


STAND_INS = (*_RESOLVED, *_MEANT_BY_NULL)
"""The settings whose null stands for a number that follows from others."""


def resolved(experiment: Experiment, path: str) -> Any:
    """A setting's value, or the number that its null stands for (d_model / heads, where ``model.d_k`` is null)."""
    if path in _RESOLVED:
        return _RESOLVED[path](experiment)
    value = value_at(experiment, path)
    return _MEANT_BY_NULL[path](experiment.model) if value is None and path in _MEANT_BY_NULL else value


def run_id(experiment: Experiment, corpus_fingerprint: str | None) -> str:
    """16 hex characters over meaning, seed, identity version and corpus fingerprint.

    A corpus that was never fetched has no fingerprint (``None``): the identity is then provisional and names a plan.
    """
    return _digest(experiment, corpus_fingerprint, meaning(experiment))


def training_id(experiment: Experiment, corpus_fingerprint: str | None) -> str:
    """The same over what training depends on: runs that share it differ only in what is done with the weights.

    Search, evaluation and the average of the last checkpoints come after training; one training serves them all. The
    running average of every update does not: only a training that is asked for it keeps it.
    """
    settings = {path: value for path, value in meaning(experiment).items() if not _after_training(path)}
    if experiment.evaluate.checkpoint == "ema":
        settings["train.ema_decay"] = experiment.train.ema_decay
    return _digest(experiment, corpus_fingerprint, settings)


def weights_id(experiment: Experiment, corpus_fingerprint: str | None) -> str:
    """The training and which of its weights are evaluated: runs that share it search with the very same numbers."""
    return f"{training_id(experiment, corpus_fingerprint)} {evaluated_weights(experiment)}"


def _after_training(path: str) -> bool:
    return path.startswith(("decode.", "evaluate.")) or path in ("train.average_last", "train.average_every")


def _digest(experiment: Experiment, corpus_fingerprint: str | None, settings: dict[str, Any]) -> str:
    said = {
        "version": IDENTITY_VERSION,
        "seed": experiment.seed,
        "corpus": corpus_fingerprint,
        "settings": settings,
    }
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]
