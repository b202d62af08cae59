"""Tiny experiments outside ``config.model``: a text, settings of a size that trains in a blink, what each choice needs.

Values come from the axes; sizes are shrunk.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ablatable.config.layers import Setting, build
from ablatable.config.schema import Experiment
from ablatable.config.tree import activating, leaves, values_of

_ROOT = tempfile.TemporaryDirectory(prefix="ablatable-effects-")
ROOT = Path(_ROOT.name)

SHRUNK = {
    "tokenizer.size": 400,
    "data.max_length": 16,
    "train.updates": 25_000,
    "train.batch_tokens": 125,
    "train.warmup": 2000,
    "train.validate_every": 500,
    "train.average_every": 500,
    "decode.extra_tokens": 5,
}
"""Sizes are tried at this fraction of what their axis names."""

TRIED: dict[str, tuple[Any, ...]] = {
    "data.train_pairs": (40,),
    "train.beta1": (0.8,),
    "train.validate_every": (1,),
    "train.average_every": (1,),
    "decode.extra_tokens": (2,),
}
"""Values for axes that name none beside the default."""

TINY: dict[str, Any] = {
    "data.corpus": "files",
    "data.files_languages": "xx-yy",
    **{
        f"data.files_{side}_{split}": str(ROOT / f"{split}.{side}")
        for side in ("source", "target")
        for split in ("train", "valid", "test")
    },
    "model.layers": 1,
    "model.d_model": 16,
    "model.d_ff": 16,
    "model.heads": 2,
    "model.tying": "none",
    "runtime.accelerator": "cpu",
    "tracking.wandb": "off",
    **{path: leaves()[path].default // part for path, part in SHRUNK.items() if path != "train.average_every"},
}

_STANDING = {"train.updates": 8, "train.validate_every": 1, "train.learning_rate_factor": 1e-12}
_WILD = {"train.updates": 8, "train.validate_every": 1, "train.learning_rate_factor": 20.0}
CONTEXTS: dict[str, tuple[dict[str, Any], ...]] = {
    "tokenizer.sharing": ({}, {"tokenizer.kind": "word"}),
    "train.average_last": (
        {"train.updates": 24, "train.average_last": 2, "train.average_every": 1, "train.validate_every": 8},
    ),
    "train.average_every": ({"train.updates": 8, "train.average_last": 3, "train.average_every": 2},),
    "train.patience": (_STANDING,),
    "train.patience_metric": ({**_STANDING, "train.learning_rate_factor": 1e-3, "train.patience": 1},),
    "train.validate_every": (
        {**_WILD, "train.validate_every": 3, "evaluate.checkpoint": "best"},
        {**_STANDING, "train.validate_every": 2, "train.patience": 1},
    ),
    "evaluate.checkpoint": (_WILD,),
}
"""What must hold beside a choice for a run this short to show it."""


def tried(path: str) -> list[Any]:
    """The values of an axis, at the size of these runs."""
    part = SHRUNK.get(path)
    named = [value // part if part and value is not None else value for value in values_of(path)]
    return [*named, *TRIED.get(path, ())]


def contexts(path: str) -> tuple[dict[str, Any], ...]:
    return CONTEXTS.get(path, ({},))


def experiment(*layers: Mapping[str, Any]) -> Experiment:
    return build([{path: Setting(value, "test") for path, value in layer.items()} for layer in (TINY, *layers)])


def beside(path: str, value: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """What a value needs around it: to mean anything, to be possible, to show."""
    axis = leaves()[path].axis
    companions = axis.companions.get(value, {}) if axis else {}
    return {**activating(path), **companions, **context}


def baseline(path: str, context: Mapping[str, Any]) -> Any:
    """The value a choice is compared with."""
    return context.get(path, TINY.get(path, leaves()[path].default))


def pair(path: str, value: Any, context: Mapping[str, Any]) -> tuple[Experiment, Experiment]:
    """An experiment with the baseline's value and the same with another."""
    around = beside(path, value, context)
    return experiment(around, {path: baseline(path, context)}), experiment(around, {path: value})


def _write_text() -> None:
    """Made-up words of five letters; a target word is its source word backwards. NFKC rewrites some characters."""
    draw = random.Random(5)
    words = ["".join(draw.choices("abcde", k=draw.randint(1, 4))) for _ in range(60)]
    words += ["ﬁb", "½"]
    for split, count in (("train", 120), ("valid", 24), ("test", 150)):
        lines = [" ".join(draw.choices(words, k=draw.randint(2, 9))) for _ in range(count)]
        answers = [" ".join(word[::-1].upper() for word in line.split(" ")) for line in lines]
        for side, text in (("source", lines), ("target", answers)):
            (ROOT / f"{split}.{side}").write_text("".join(f"{line}\n" for line in text), encoding="utf-8")


_write_text()
