"""A finished run, ready to translate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ablatable.config.dump import from_dict
from ablatable.config.schema import Experiment
from ablatable.config.yaml_file import read
from ablatable.data.dataset import prepare
from ablatable.data.tokenizers.protocol import Tokenizer
from ablatable.errors import InputError
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork
from ablatable.training.checkpoint import Checkpoints, load_weights


@dataclass(frozen=True)
class LoadedRun:
    """The evaluated weights of a run, in evaluation mode, with the tokenizers they were trained with."""

    experiment: Experiment
    model: AnyNetwork
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer


def load_run(folder: Path, cache: Path) -> LoadedRun:
    """Load the weights that were scored. The tokenizers come from the cache, made again where it lacks them.

    Raises:
        InputError: no such run, or one that has not finished.
    """
    if not (folder / "config.yaml").is_file():
        raise InputError(f"{folder} is not a run's folder; `ablatable status STUDY --format json` lists run ids")
    experiment = from_dict(read(folder / "config.yaml").data, where=f"{folder}/config.yaml")
    weights = Checkpoints(folder / "checkpoints").evaluated
    if not weights.is_file():
        raise InputError(f"run {folder.name} has no evaluated weights yet; finish it with the command that began it")
    data = prepare(experiment, cache)
    model = build_model(experiment.model, data.source_tokenizer.size, data.target_tokenizer.size, experiment.seed)
    model.load_state_dict(load_weights(weights))
    return LoadedRun(experiment, model.eval(), data.source_tokenizer, data.target_tokenizer)
